from hypothesis import given

from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.verifiers import named
from tests.checks import emitted, mean_accepted
from tests.strategies import instances, rows

SPECHUB, HU = named("spechub"), named("hu-greedy")


@given(instances("spechub"))
def test_acceptance_is_that_of_the_greedy_draft_with_two_children(instance):
    greedy = Instance(instance.target, instance.proposal, Greedy(every(2, instance.draft.depth)))
    assert mean_accepted(instance, SPECHUB) == mean_accepted(greedy, HU)


@given(rows(4), rows(4))
def test_acceptance_at_one_node(p, q):
    """p(a) and, off the hub a, what p shares with q conditioned off it."""
    hub = max(range(4), key=lambda x: (q[x], -x))
    off = 1 - q[hub]
    shared = sum(min(p[x], q[x] / off) for x in range(4) if x != hub) if off else 0
    assert mean_accepted(context_free(p, q, SpecHub(1)), SPECHUB) == p[hub] + shared


@given(instances(SpecHub(1)))
def test_blocks_have_the_law_of_hu(instance):
    greedy = Instance(instance.target, instance.proposal, Greedy(every(2, 1)))
    assert emitted(instance, SPECHUB) == emitted(greedy, HU)
