"""DDTree's tree is that of the likeliest prefixes of the product law, found by looking at all of them."""
# ruff: noqa: E402

import itertools
from fractions import Fraction
from math import prod

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.drafters import likeliest
from draftproof.gpu.drafters.likeliest import likeliest_prefixes
from tests.gpu.edits import edit


def instances(count, seed=0):
    """(rows of whole weights, number of nodes), many of them with ties and zeros."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        depth, V = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        rows = rng.integers(0, rng.choice([3, 9, 1000]), (depth, V))
        rows[:, 0] += rows.sum(1) == 0
        yield rows.tolist(), int(rng.integers(1, 40))


def tree_of(rows, count):
    """The prefixes of the tree, made beside that of a second text; each is below one of the others or the
    root.
    """
    logits = torch.tensor(rows, dtype=torch.float64).log()
    tokens, parents = (
        each[0] for each in likeliest_prefixes(torch.stack((logits, logits.roll(1, 0))), count)
    )
    words = [()]
    for token, parent in zip(tokens.tolist(), parents.tolist(), strict=True):
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
        (
            "(level[..., None]",
            "(level.masked_fill(place > 0, -torch.inf)[..., None]",
        ),  # extends one prefix of a level
        ("topk(min(count, logits.shape[2]), -1)", "topk(min(count, logits.shape[2], 2), -1)"),
    ],
)
def test_one_that_looks_at_one_prefix_or_at_two_tokens_is_found_out(old, new, monkeypatch):
    edit(likeliest, old, new, monkeypatch)
    assert wrong(100)
