"""The tree gap: the layered verifier on the first random instances."""

import pytest

from draftproof.simulators.instances.randoms import Mixed, Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.optimum import stateless
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named


def closed(draft, first: int, count: int) -> list[float]:
    """The shares of traversal's distance that layered closes, each law exact and never below traversal's."""
    shares = []
    family = Randoms(draft, 3, first + count, law=Mixed())
    for instance in (family[i] for i in range(first, first + count)):
        base = emission(instance, named("traversal")).expected_accepted
        layered = emission(instance, named("layered"))
        best = stateless(instance)
        assert layered.total_variation == 0
        assert base <= layered.expected_accepted <= best.upper
        if (distance := best.value - float(base)) > 1e-7:
            shares.append(float(layered.expected_accepted - base) / distance)
    return shares


@pytest.mark.slow
@pytest.mark.parametrize("draft", [Tree(every(2, 2)), Paths(2, 2)], ids=["tree", "paths"])
def test_at_least_nine_tenths_of_the_distance_is_closed_on_forty(draft):
    shares = closed(draft, 0, 40)
    assert len(shares) > 30
    assert sum(shares) / len(shares) >= 0.9


@pytest.mark.parametrize("draft", [Tree(every(2, 2)), Paths(2, 2)], ids=["tree", "paths"])
def test_on_a_few(draft):
    assert min(closed(draft, 7, 4)) > 0.8
