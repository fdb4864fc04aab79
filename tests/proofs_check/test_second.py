"""A second, independent verdict on every sign-cell proof with two symbols and at most two tokens."""

import pytest

from proofs_check.prove import prove
from proofs_check.second import second_opinion
from theory.drafts.chain import Chain
from theory.drafts.paths import Paths
from theory.drafts.shape import every
from theory.drafts.tree import Tree
from theory.verifiers import named

PAIR, TWO_LEVELS, FORK, TWO_PATHS = every(2, 1), every(2, 2), (every(2, 1),), (every(1, 1),) * 2

FAST = [
    *[(name, Chain(1)) for name in ("token", "block", "hsd", "rrs", "traversal", "naive-tree", "nss")],
    ("rrs", Tree(PAIR)),
    ("specinfer", Tree(PAIR, True)),
    ("traversal", Tree(PAIR)),
    ("traversal", Tree(PAIR, True)),
    ("hsd-released", Chain(2)),
    ("hsd-multidraft-released", Chain(2)),
]

SLOW = [
    *[(name, Chain(2)) for name in ("token", "block", "traversal")],
    ("traversal", Tree(FORK)),
    ("traversal", Tree(FORK, True)),
    ("traversal", Tree(TWO_PATHS, True)),
    ("traversal", Tree(TWO_PATHS)),
    ("traversal", Paths(2, 2)),
    ("rrs", Tree(TWO_LEVELS)),
    ("specinfer", Tree(TWO_LEVELS, True)),
]


def labelled(cases):
    return [pytest.param(*case, id=f"{case[0]} {case[1]}") for case in cases]


@pytest.mark.parametrize(("name", "scheme"), labelled(FAST))
def test_both_routes_agree(name, scheme):
    verifier = named(name)
    assert second_opinion(verifier, scheme, 2).holds == (prove(verifier, scheme, 2).verdict == "proved")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scheme"), labelled(SLOW))
def test_both_routes_agree_at_two_tokens(name, scheme):
    assert second_opinion(named(name), scheme, 2, seconds=3000).holds
