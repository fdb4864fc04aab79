"""Plans of one level."""

from hypothesis import assume, given
from hypothesis import strategies as st

from draftproof.theory.numbers import ONE, exact
from draftproof.theory.transport.level import carriers, plan, worth
from draftproof.theory.transport.siblings import sibling_law
from tests.theory.transport.rows import pairs


@given(pairs(most=3), st.booleans())
def test_a_plan_keeps_within_the_row_and_the_room(pq, merged) -> None:
    p, q = pq
    assume(sum(mass > 0 for mass in q) > 1)
    law, taken = sibling_law(q, (((),), ((),)), False, merged), [exact(0)] * len(p)
    made = plan([p], [law], ONE, 8)
    for (drawn,), rates in made.rate.items():
        assert sum(rates.values(), exact(0)) <= 1
        for (_, x), rate in rates.items():
            taken[x] += law[drawn] * rate
    assert made.left == (tuple(a - b for a, b in zip(p, taken, strict=True)),)
    assert min(made.left[0]) >= 0
    assert made.accepted == sum(taken, exact(0))


def test_worth_is_the_mean_of_the_slopes_at_both_ends() -> None:
    assert [worth(shape) for shape in ((), ((),), ((), ()), (((),),))] == [0, 600, 733, 816]
    assert carriers(((0, ()), (0, ((),)), (1, ((), ()))), 0) == (((),),)


def test_the_law_of_siblings() -> None:
    q = exact("1/3"), exact("2/3")
    assert dict(sibling_law(q, ((), ()), False, False)) == {((0, ()), (1, ())): 1}
    assert dict(sibling_law(q, (((),), ((),)), True, True)) == {
        ((0, ((), ())),): exact("1/9"),
        ((0, ((),)), (1, ((),))): exact("4/9"),
        ((1, ((), ())),): exact("4/9"),
    }
