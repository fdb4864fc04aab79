"""The lift of Hu et al.'s rule: exact on greedy trees, and at one node the rule itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.simulators.instances.strategies import instances
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import context_free
from draftproof.theory.verifiers import named
from tests.checks import assert_lossless, assert_same_law, is_lossy, mean_accepted

VERIFIER, RULE = named("lifted-hu-greedy"), named("hu-greedy")


@pytest.mark.parametrize(
    "shape", [every(2, 2), ((), ((),)), (((), ()), ()), ((), (), ((),)), (((),),)], ids=str
)
@settings(max_examples=10)
@given(data=st.data())
def test_the_law_is_exact_on_every_shape(shape, data):
    assert_lossless(data.draw(instances(Greedy(shape))), VERIFIER)


@given(data=st.data())
def test_at_one_node_it_is_the_rule(data):
    assert_same_law(data.draw(instances(Greedy(every(data.draw(st.integers(1, 3)), 1)))), VERIFIER, RULE)


@given(instances("chain"))
def test_single_greedy_children_are_verified_as_blocks(instance):
    shape = every(1, instance.draft.depth)
    greedy = type(instance)(instance.target, instance.proposal, Greedy(shape))
    assert mean_accepted(greedy, VERIFIER) == mean_accepted(instance, named("block"))


def test_it_accepts_more_than_the_rule_on_the_toy():
    instance = context_free(["1/6", "1/3", "1/2"], ["1/2", "1/3", "1/6"], Greedy(every(2, 2)))
    assert mean_accepted(instance, VERIFIER) > mean_accepted(instance, RULE)


def test_other_draws_are_not_for_it():
    instance = context_free(["1/2", "1/4", "1/4"], ["3/5", "1/5", "1/5"], Tree(((), ())))
    assert is_lossy(instance, VERIFIER)
