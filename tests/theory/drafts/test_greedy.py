import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.shape import every
from draftproof.theory.law import Law
from draftproof.theory.numbers import ONE, exact
from draftproof.theory.rows import has_mass, likeliest, without
from draftproof.theory.table import Table
from tests.checks import bracketed, children, drawn
from tests.strategies import rows, tables


@given(rows(4), st.integers(1, 5))
def test_one_sample_off_the_likeliest_stands_first(q, count):
    top = likeliest(q, count - 1)
    rest = without(q, *top)
    wanted = {(x, *top): share for x, share in enumerate(rest)} if has_mass(rest) else {tuple(top): ONE}
    assert drawn(Greedy(every(count, 1)), Table.exact(4, {(): q}), children) == Law(wanted)


@given(tables(2, 2), st.integers(1, 3))
def test_only_children_are_a_chain(proposal, depth):
    greedy = Greedy(every(1, depth))
    assert drawn(greedy, proposal, bracketed) == drawn(Chain(depth), proposal, bracketed)


@pytest.mark.parametrize(
    ("q", "law"),
    [
        (["1/2", "1/4", "1/4"], {(1, 0): "1/2", (2, 0): "1/2"}),
        (["1/3", "1/3", "1/3"], {(1, 0): "1/2", (2, 0): "1/2"}),  # ties by id
        ([0, 1, 0], {(1,): 1}),  # nothing to sample off the likeliest
    ],
)
def test_pairs(q, law):
    wanted = Law({word: exact(mass) for word, mass in law.items()})
    assert drawn(Greedy(every(2, 1)), Table.exact(3, {(): q}), children) == wanted


def test_the_sampled_child_takes_the_first_entry_of_the_shape():
    proposal = Table.exact(2, {(): ["2/3", "1/3"], (0,): [1, 0]})
    law = drawn(Greedy((((), ()), ((), ()))), proposal, bracketed)
    # 1 is sampled, 0 is the likeliest; below 0 only 0 can be drafted, below 1 both.
    assert law == Law({(1, 1, -1, 0, -1, -1, 0, 0, -1, -1, -1): ONE})
