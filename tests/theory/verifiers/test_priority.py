"""The priority rule and its lift: token and block verification on chains, exact on every shape."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.simulators.laws.enumerate import emission
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import exact
from draftproof.theory.verifiers import named
from draftproof.theory.verifiers.shared import priority
from draftproof.theory.verifiers.shared.priority import plan
from tests.checks import assert_lossless, assert_same_law, is_lossy
from tests.strategies import instances

PRIORITY, LIFTED = named("priority"), named("lifted-priority")
SHAPES = (every(2, 2), ((), ((),)), (((), ()), ()), ((), (), ((),)))
DRAFTS = [draft for shape in SHAPES for draft in (Tree(shape, True), Stratified(shape))]
BOTH = pytest.mark.parametrize("verifier", [PRIORITY, LIFTED], ids=lambda each: each.name)


@given(instances("chain"))
def test_chains_are_verified_token_by_token_and_as_blocks(instance):
    assert_same_law(instance, PRIORITY, named("token"))
    assert_same_law(instance, LIFTED, named("block"))


@BOTH
@pytest.mark.parametrize("draft", DRAFTS, ids=str)
@settings(max_examples=8)
@given(data=st.data())
def test_the_law_is_exact_on_every_shape(verifier, draft, data):
    assert_lossless(data.draw(instances(draft)), verifier)


@pytest.mark.parametrize("draft", [Tree(every(2, 1), True), Stratified(every(2, 1))], ids=str)
@given(data=st.data())
def test_at_one_node_the_lift_is_the_rule(draft, data):
    assert_same_law(data.draw(instances(draft)), PRIORITY, LIFTED)


@BOTH
@pytest.mark.parametrize("draft", [Tree(every(2, 2), True), Stratified(every(2, 2))], ids=str)
def test_any_classes_are_lossless(verifier, draft, monkeypatch):
    monkeypatch.setattr(priority, "token_by_token", lambda t, laws: plan(t, laws, ((2, 0), (1,))))
    p, q = ["1/2", "1/3", "1/6"], ["1/5", "1/5", "3/5"]
    assert_lossless(context_free(p, q, draft), verifier)


@BOTH
def test_siblings_without_replacement_are_not_for_it(verifier):
    instance = context_free(["1/2", "1/4", "1/4"], ["3/5", "1/5", "1/5"], Tree(((), ((), ()))))
    assert is_lossy(instance, verifier)


@BOTH
def test_strata_verified_as_independent_draws_from_q_are_lossy(verifier, monkeypatch):
    instance = context_free(["1/2", "1/4", "1/4"], ["3/5", "1/5", "1/5"], Stratified(((), ())))
    assert_lossless(instance, verifier)
    monkeypatch.setattr("draftproof.theory.draft.Draft.laws", lambda draft, node: (node.proposal,) * 2)
    assert is_lossy(instance, verifier)


@pytest.mark.parametrize("draft", [Tree(every(2, 2), True), Stratified(every(2, 2))], ids=str)
def test_the_lift_accepts_more_on_the_reversed_scenario(draft):
    instance = context_free(["1/6", "1/3", "1/2"], ["1/2", "1/3", "1/6"], draft)
    assert emission(instance, LIFTED).expected_accepted > emission(instance, PRIORITY).expected_accepted


def test_tokens_that_are_drafted_too_seldom_are_judged_first():
    """The ratios t / sum_j R_j are 3/2, 3/8 and 1/4; of equal ones the smaller token goes first."""
    row = tuple(map(exact, ("1/6", "1/3", "1/2")))
    found = priority.token_by_token(tuple(map(exact, ("1/2", "1/4", "1/4"))), (row, row))
    assert [x for x, j in found.rate if not j] == [0, 1, 2]
    assert [x for x, j in priority.token_by_token(row, (row, row)).rate if not j] == [0, 1, 2]


def test_siblings_are_counted_once_each():
    rows = [tuple(map(exact, row)) for row in (("1/2", "1/2"), (1, 0), (0, 1))]
    assert priority.included(rows) == (exact("3/2"), exact("3/2"))
    assert priority.included(rows[:2]) == (exact("3/2"), exact("1/2"))
