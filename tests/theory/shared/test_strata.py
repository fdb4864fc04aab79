"""A row cut into strata: rows of mass 1 that together include each token as often as asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory.numbers import ONE, exact
from draftproof.theory.rows import supported, total
from draftproof.theory.shared.strata import inclusion, strata
from tests.strategies import rows


@given(rows(5), st.integers(1, 6))
def test_strata_are_rows_that_together_include_each_token_as_often_as_asked(q, count):
    cut = strata(q, count)
    pi = inclusion(q, count)
    assert len(cut) == min(count, supported(q))
    assert all(total(row) == 1 and min(row) >= 0 for row in cut)
    assert tuple(sum(column) for column in zip(*cut, strict=True)) == pi


@given(rows(5), st.integers(1, 6))
def test_inclusion_is_in_proportion_to_q_up_to_1(q, count):
    pi = inclusion(q, count)
    factors = {mass / chance for mass, chance in zip(pi, q, strict=True) if chance > 0 and mass < 1}
    assert len(factors) <= 1
    assert all(mass == 0 for mass, chance in zip(pi, q, strict=True) if chance == 0)
    assert all(
        factor * chance >= 1 for factor in factors for mass, chance in zip(pi, q, strict=True) if mass == 1
    )


@given(rows(5))
def test_one_stratum_is_the_row(q):
    assert strata(q, 1) == (q,)


@given(rows(5), st.integers(1, 6))
def test_neighbours_share_one_token_at_most_and_others_none(q, count):
    where = [{x for x, mass in enumerate(row) if mass > 0} for row in strata(q, count)]
    for i, one in enumerate(where):
        for j, other in enumerate(where[:i]):
            assert len(one & other) <= (i - j == 1)


@given(rows(4), st.integers(2, 4))
def test_earlier_strata_have_likelier_tokens(q, count):
    for above, below in zip(strata(q, count), strata(q, count)[1:], strict=False):
        least = min(q[x] for x, mass in enumerate(above) if mass > 0)
        assert all(q[x] <= least for x, mass in enumerate(below) if mass > 0)


@pytest.mark.parametrize(
    ("q", "count", "wanted"),
    [
        (["1/2", "1/4", "1/4"], 2, [[1, 0, 0], [0, "1/2", "1/2"]]),
        (["1/3", "1/3", "1/3"], 2, [["2/3", "1/3", 0], [0, "1/3", "2/3"]]),
        (["1/4", "3/4", 0], 2, [[0, 1, 0], [1, 0, 0]]),
        ([0, 1], 3, [[0, 1]]),
    ],
)
def test_examples(q, count, wanted):
    assert strata(tuple(map(exact, q)), count) == tuple(tuple(map(exact, row)) for row in wanted)


def test_floats_too():
    (first, second) = strata((0.5, 0.3, 0.2), 2)
    assert first == (1.0, 0.0, 0.0)
    assert second == pytest.approx((0.0, 0.6, 0.4))
    assert total(strata((ONE / 2, ONE / 2), 2)[1]) == ONE
