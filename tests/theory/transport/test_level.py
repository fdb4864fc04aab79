"""Plans of one level: what the shortcuts say, a flow says too."""

from hypothesis import assume, given
from hypothesis import strategies as st

from draftproof.theory.numbers import ONE, exact
from draftproof.theory.rows import scale
from draftproof.theory.transport.level import _plan, carriers, plan, worth
from draftproof.theory.transport.siblings import sibling_law
from tests.theory.transport.rows import pairs


@given(pairs(), st.integers(1, 6), st.sampled_from([(), ((),), (((),), ())]), st.sampled_from([1, 8]))
def test_one_draw_needs_no_flow(pq, rate, below, segments) -> None:
    p, q = pq
    row, draws = scale(exact(rate) / 6, p), sibling_law(q, (below,), False, False)
    assert plan([row], [draws], ONE, segments) == _plan((row,), (draws,), ONE, segments)


@given(pairs(most=3), st.booleans())
def test_a_plan_keeps_within_the_row_and_the_room(pq, merged) -> None:
    p, q = pq
    assume(sum(mass > 0 for mass in q) > 1)
    made = plan([p], [sibling_law(q, (((),), ((),)), False, merged)], ONE, 8)
    for (_, x), mass in made.mean.items():
        assert 0 <= mass <= p[x]
    for rates in made.rate.values():
        assert sum(rates.values(), exact(0)) <= 1
    assert made.accepted == sum(made.mean.values(), exact(0))


def test_entries_of_equal_rate_are_one() -> None:
    half = exact("1/2")
    made = plan([(half, half)], [sibling_law((half, half), (((),), ((),)), True, False)], ONE, 8)
    entries = made.entries(0, 0)
    assert len(entries) == len({(shape, str(rate)) for (shape, rate), _ in entries})
    assert sum((copies * rate for (_, rate), copies in entries), exact(0)) == made.mean[0, 0]


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
