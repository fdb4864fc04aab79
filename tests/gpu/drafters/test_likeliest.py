"""DDTree's tree is that of the likeliest prefixes of the product law, found by looking at all of them."""
# ruff: noqa: E402

import itertools
from fractions import Fraction
from math import prod

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.drafters import likeliest
from draftproof.gpu.drafters.likeliest import TopK
from draftproof.gpu.network.session import Session
from draftproof.gpu.sampling.rows import PLAIN
from tests.gpu.edits import edit


def instances(count, seed=0):
    """(rows of whole weights, number of nodes), many of them with ties and zeros."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        depth, V = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        rows = rng.integers(0, rng.choice([3, 9, 1000]), (depth, V))
        rows[:, 0] += rows.sum(1) == 0
        yield rows.tolist(), int(rng.integers(1, 40))


class Product(Session):
    """Rows that depend on the depth alone."""

    def __init__(self, logits):
        self.logits = logits

    def root(self):
        return self.logits[:, 0]

    def extend(self, tokens, level):
        return self.logits[:, level.depth, None].expand(-1, tokens.shape[1], -1)


def tree_of(rows, count):
    """The prefixes of the tree, made beside that of a second text; each is below one of the others or the
    root.
    """
    logits = torch.tensor(rows, dtype=torch.float64).log()
    shape = TopK("", count, len(rows), count)
    draft = shape.grow(Product(torch.stack((logits, logits.roll(1, 0)))), PLAIN, torch.empty(0))
    words = [()]
    for token, parent in zip(draft.tokens[0].tolist(), draft.tree.parents[0, 1:].tolist(), strict=True):
        if token >= 0:
            words.append((*words[parent], token))
    return words[1:]


def masses(rows, words):
    """The exact probabilities of words, likeliest first."""
    own = [[Fraction(x, sum(row)) for x in row] for row in rows]
    return sorted((prod(own[d][x] for d, x in enumerate(word)) for word in words), reverse=True)


def every(rows):
    """All prefixes."""
    lengths = range(1, len(rows) + 1)
    return [word for n in lengths for word in itertools.product(range(len(rows[0])), repeat=n)]


def wrong(count):
    """How many of the instances have another tree; ties may be decided either way."""
    found = 0
    for rows, nodes in instances(count):
        words, best = tree_of(rows, nodes), masses(rows, every(rows))
        expected = [mass for mass in best if mass][:nodes]
        found += len(set(words)) != len(words) or masses(rows, words) != expected
    return found


def test_the_tree_is_that_of_brute_force():
    assert wrong(1000) == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("min(self.width, score.shape[1])", "1"),  # extends one prefix of a level
        ("min(self.width, logits.shape[-1])", "min(self.width, logits.shape[-1], 2)"),
    ],
)
def test_one_that_looks_at_one_prefix_or_at_two_tokens_is_found_out(old, new, monkeypatch):
    edit(likeliest, old, new, monkeypatch)
    assert wrong(100)
