"""The priority rule with split tokens reaches alpha* at a node; its lift is lossless on i.i.d. siblings."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draftproof.simulators.instances.strategies import instances, rows
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import context_free
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.rows import total
from draftproof.theory.transport.single_step import alpha
from draftproof.theory.verifiers import lifted_split, named
from draftproof.theory.verifiers.lifted_split import split, window, without
from draftproof.theory.verifiers.shared.priority import token_by_token
from tests.checks import assert_lossless, assert_same_law, is_lossy

VERIFIER = named("lifted-split")
NEAR = exact("1/10000000000")


@given(rows(4), rows(4), st.integers(1, 4))
def test_a_node_accepts_alpha(p, q, count):
    accepted = ONE - total(split(p, q, count).left)
    best, _ = alpha(p, q, count, True)
    assert best - NEAR <= accepted <= best


def test_it_reaches_alpha_where_the_priority_rule_does_not():
    p, q = (exact(0), exact("1/5"), exact("4/5")), (exact("1/5"), exact("1/5"), exact("3/5"))
    assert ONE - total(split(p, q, 2).left) == exact("24/25")
    assert ONE - total(token_by_token(p, (q, q)).left) == exact("47/50")


@given(instances("chain"))
def test_chains_are_verified_as_blocks(instance):
    assert_same_law(instance, VERIFIER, named("block"))


@pytest.mark.parametrize("shape", [every(2, 2), ((), ((),)), ((), (), ())], ids=str)
@settings(max_examples=5)
@given(data=st.data())
def test_the_law_is_exact_wherever_tokens_are_put(shape, data):
    instance = data.draw(instances(Tree(shape, True), vocab=2 if len(shape[0]) else 3))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifted_split, "STEPS", data.draw(st.integers(0, 4)))
        patch.setattr(lifted_split, "split", split.__wrapped__)
        assert_lossless(instance, VERIFIER)


def test_other_draws_are_not_for_it():
    for draft in (Tree(((), ((), ()))), Stratified(((), ()))):
        assert is_lossy(context_free(["1/2", "1/4", "1/4"], ["3/5", "1/5", "1/5"], draft), VERIFIER)


def test_parts_are_put_together_and_taken_out():
    free = [(0, 2), (5, 6), (8, 9)]
    assert window(free, 1, 2) == [(1, 2), (5, 6)]
    assert window(free, 3, 5) == [(8, 9)]
    assert without(free, [(1, 2), (5, 6)]) == [(0, 1), (8, 9)]
    assert without(free, [(0, 1)]) == [(1, 2), (5, 6), (8, 9)]
