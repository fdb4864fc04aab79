"""The priority rule on dependent siblings: exact without replacement and on K paths."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.tried import second
from draftproof.simulators.strategies import instances, rows
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE
from draftproof.theory.rows import excess, total
from draftproof.theory.transport.single_step import alpha
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.lifted_without import by_sets
from tests.checks import assert_lossless, assert_same_law, is_lossy, mean_accepted

VERIFIER = named("lifted-without")
DRAFTS = [*map(Tree, (every(2, 2), ((), ((),)), (((), ()), ()), ((), (), ((),)))), Paths(2, 2), Paths(3, 2)]


@pytest.mark.parametrize("draft", DRAFTS, ids=str)
@settings(max_examples=8)
@given(data=st.data())
def test_the_law_is_exact_on_every_shape(draft, data):
    assert_lossless(data.draw(instances(draft)), VERIFIER)


@given(instances("chain"))
def test_chains_are_verified_as_blocks(instance):
    assert_same_law(instance, VERIFIER, named("block"))


@given(rows(4), rows(4), st.integers(1, 4), st.booleans())
def test_a_node_accepts_no_more_than_alpha(p, q, count, replacement):
    assert ONE - total(by_sets(p, q, count, replacement).left) <= alpha(p, q, count, replacement)[0]


@given(rows(4), rows(4))
def test_two_siblings_need_one_pass(p, q):
    assume(max(q) < 1)
    assert excess(p, second(p, q)) == by_sets(p, q, 2, False).left


def test_it_accepts_more_than_traversal_and_less_than_alpha():
    instance = context_free(["5/8", "9/32", "3/32"], ["5/11", "5/11", "1/11"], Tree(((), ())))
    found = mean_accepted(instance, VERIFIER)
    assert mean_accepted(instance, named("traversal")) < found < alpha(*_rows(instance), 2, False)[0]


def _rows(instance):
    return instance.target[()], instance.proposal[()]


def test_independent_siblings_are_not_for_it():
    instance = context_free(["1/2", "1/4", "1/4"], ["3/5", "1/5", "1/5"], Tree(((), ()), True))
    assert is_lossy(instance, VERIFIER)
