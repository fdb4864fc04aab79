from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.law import Law
from draftproof.theory.numbers import ONE
from draftproof.theory.table import Table
from tests.checks import bracketed, children, drafts, drawn
from tests.strategies import rows, shapes, tables


@given(tables(3, 2), shapes(4, depth=2))
def test_nothing_is_random(proposal, shape):
    assert [weight for weight, _ in drafts(TopK(shape), proposal)] == [ONE]


@given(rows(4), st.integers(1, 5))
def test_the_likeliest_tokens_are_drafted_largest_first(q, count):
    [tokens] = drawn(TopK(every(count, 1)), Table.exact(4, {(): q}), children)
    assert len(set(tokens)) == len(tokens) == min(count, sum(x > 0 for x in q))
    assert all((-q[x], x) < (-q[y], y) for x, y in pairwise(tokens))
    others = [y for y in range(4) if y not in tokens]
    assert all((-q[x], x) < (-q[y], y) or q[y] == 0 for x in tokens for y in others)


@pytest.mark.parametrize(
    ("q", "drafted"),
    [
        (["1/4", "1/4", "1/4", "1/4"], (0, 1, 2)),  # ties by id
        (["1/8", "3/8", "1/8", "3/8"], (1, 3, 0)),
        ([0, "1/2", 0, "1/2"], (1, 3)),  # none of probability zero
        ([0, 0, 1, 0], (2,)),
    ],
)
def test_ties_and_zeros(q, drafted):
    assert drawn(TopK(every(3, 1)), Table.exact(4, {(): q}), children) == Law({drafted: ONE})


def test_where_the_support_runs_out_the_first_entries_of_the_shape_are_taken():
    proposal = Table.exact(2, {(): ["1/3", "2/3"], (1,): [1, 0]})
    shape = (((), ()), (), ((), ()))
    assert drawn(TopK(shape), proposal, bracketed) == Law({(1, 0, -1, -1, 0, -1, -1): ONE})
