"""DDTree's tree is that of the likeliest prefixes of the product law, found by looking at all of them."""
# ruff: noqa: E402

import itertools
from fractions import Fraction
from math import prod

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from draftproof.gpu.drafters import ddtree
from draftproof.gpu.drafters.ddtree import likeliest_on_device, likeliest_prefixes


def instances(count, seed=0):
    """(rows of whole weights, number of nodes), many of them with ties and zeros."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        depth, V = int(rng.integers(1, 5)), int(rng.integers(1, 6))
        rows = rng.integers(0, rng.choice([3, 9, 1000]), (depth, V))
        rows[:, 0] += rows.sum(1) == 0
        yield rows.tolist(), int(rng.integers(1, 40))


def on_device(logits, count):
    """The device's tree, beside that of a second text, which must not matter."""
    both = torch.stack((logits, logits.roll(1, 0)))
    return (each[0] for each in likeliest_on_device(both, count))


def tree_of(rows, count, builder):
    """The prefixes of the tree; each is below one of the others or the root."""
    logits = torch.tensor(rows, dtype=torch.float64).log()
    tokens, parents = builder(logits, count)
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


def wrong(count, builder=likeliest_prefixes):
    """How many of the instances have another tree; ties may be decided either way."""
    found = 0
    for rows, nodes in instances(count):
        words, best = tree_of(rows, nodes, builder), masses(rows, every(rows))
        expected = [mass for mass in best if mass][:nodes]
        found += len(set(words)) != len(words) or masses(rows, words) != expected
    return found


@pytest.mark.parametrize("first", [64, 1])
def test_the_tree_is_that_of_brute_force(first, monkeypatch):
    monkeypatch.setattr(ddtree, "FIRST", first)
    assert wrong(1000 if first == 64 else 200) == 0


def test_the_tree_of_the_device_is_that_of_brute_force():
    assert wrong(300, on_device) == 0


def test_a_device_that_extends_one_prefix_of_a_level_is_found_out(monkeypatch):
    pairs = ddtree._pairs_on
    monkeypatch.setattr(ddtree, "_pairs_on", lambda *given: pairs(*given) * torch.tensor([[0], [1]]))
    assert wrong(100, on_device)


def test_broken_trees_are_found_out(monkeypatch):
    pairs = ddtree._pairs
    with monkeypatch.context() as patch:  # only the likeliest prefix of a level is extended
        patch.setattr(
            ddtree, "_pairs", lambda *given: (*pairs(*given)[:2], np.minimum(pairs(*given)[2], given[1]))
        )
        assert wrong(100)
    few = ddtree._likeliest

    def two(row, most):  # tokens that were not looked at count as impossible
        own, ids = few(row, most)
        return np.where(np.arange(most) < 2, own, -np.inf), ids

    monkeypatch.setattr(ddtree, "_likeliest", two)
    assert wrong(100)
