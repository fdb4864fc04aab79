import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified, most
from draftproof.theory.law import Law
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.shared.strata import strata
from draftproof.theory.table import Table
from tests.checks import bracketed, children, drafts, drawn
from tests.strategies import rows, tables


@given(rows(4), st.integers(1, 5))
def test_siblings_are_independent_draws_from_the_strata(q, count):
    laws = strata(q, count)
    law = drawn(Stratified(every(count, 1)), Table.exact(4, {(): q}), children)
    for word, mass in law.items():
        expected = ONE
        for x, row in zip(word, laws, strict=True):
            expected *= row[x]
        assert mass == expected


@given(tables(2, 2), st.integers(1, 3))
def test_only_children_are_a_chain(proposal, depth):
    drafted = drawn(Stratified(every(1, depth)), proposal, bracketed)
    assert drafted == drawn(Chain(depth), proposal, bracketed)


@given(rows(4), st.integers(1, 5))
def test_a_draft_knows_the_law_of_each_child(q, count):
    for _, draft in drafts(Stratified(every(count, 1)), Table.exact(4, {(): q})):
        assert draft.laws(draft.root) == strata(q, count)


@pytest.mark.parametrize("support", [2, 3, 4, 5])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_as_many_outcomes_as_bounded_come_out_of_even_rows(support, count):
    even = Table.exact(support, {(): [f"1/{support}"] * support})
    assert len(drawn(Stratified(every(count, 1)), even, children)) <= most(support, count)
    assert len(drawn(Stratified(every(2, 1)), even, children)) == most(support, 2) or support % 2 == 0


def test_the_first_children_are_drawn_where_tokens_run_out():
    proposal = Table.exact(2, {(): ["2/3", "1/3"], (0,): [1, 0]})
    law = drawn(Stratified((((), ()), (), ())), proposal, bracketed)
    assert law == Law({(0, 0, -1, -1, 1, -1, -1): ONE})


def test_a_token_on_a_cut_can_be_drawn_twice():
    law = drawn(Stratified(every(2, 1)), Table.exact(3, {(): ["1/3", "1/3", "1/3"]}), children)
    assert law == Law(
        {(0, 1): exact("2/9"), (0, 2): exact("4/9"), (1, 1): exact("1/9"), (1, 2): exact("2/9")}
    )
