"""Ratios are paired and geometric."""

from math import inf

import pytest

pytest.importorskip("torch")
from hypothesis import given
from hypothesis import strategies as st

from draftproof.gpu.bench.report import Estimate, difference, means_apart, ratio

speeds = st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.1, 100)), min_size=2, max_size=8)


@given(speeds)
def test_the_ratio_turned_round_is_its_inverse(pairs):
    ours, theirs = zip(*pairs, strict=True)
    there, back = ratio(ours, theirs), ratio(theirs, ours)
    assert there.value * back.value == pytest.approx(1)
    assert there.low * back.high == pytest.approx(1, rel=1e-6)
    assert there.low <= there.value * (1 + 1e-9)


def test_what_slows_both_does_not_widen_the_interval():
    found = ratio([10.0, 5.0, 2.5], [5.0, 2.5, 1.25])
    assert (found.value, found.low, found.high) == pytest.approx((2, 2, 2))
    assert difference([1.0, 3.0], [0.0, 0.0]).high == pytest.approx(2 + 12.706204736)


def test_clusters_are_what_is_independent():
    pairs = [1.0, 1.2, 3.0, 3.2], [0.0, 0.2, 1.0, 1.2]
    within, between = difference(*pairs), difference(*pairs, clusters="aabb")
    assert within.value == between.value == pytest.approx(1.5)
    assert between.high == pytest.approx(difference([1.0, 3.0], [0.0, 1.0]).high)
    assert difference(*pairs, clusters="aaaa").high == inf


def test_means_of_unequal_numbers_of_steps_are_clustered_by_what_both_share():
    """A shift that both sides of a cluster have does not widen the interval."""
    shift = {"a": 0.0, "b": 5.0, "c": -3.0}
    names = [name for name in shift for _ in range(4)]
    ours = [1 + shift[name] for name in names]
    theirs = [shift[name] for name in names for _ in range(2)]
    found = means_apart(ours, names, theirs, [name for name in names for _ in range(2)])
    assert (found.value, found.low, found.high) == (pytest.approx(1),) * 3
    alone = means_apart(ours, names, theirs, range(len(theirs)))
    assert alone.low < 0.5 < 1.5 < alone.high
    pairs = [1.0, 1.2, 3.0, 3.2], [0.0, 0.2, 1.0, 1.2]
    both = means_apart(pairs[0], "aabb", pairs[1], "aabb")
    assert both.high == pytest.approx(difference(*pairs, clusters="aabb").high)


def test_one_repeat_says_nothing_about_spread():
    found = ratio([3.0], [2.0])
    assert (found.value, found.low, found.high) == (pytest.approx(1.5), 0.0, inf)


def test_constant_differences_and_ratios_have_no_width():
    assert difference([2.0, 3.0, 4.0], [1.0, 2.0, 3.0]) == Estimate(1.0, 1.0, 1.0)
    assert ratio([2.0, 4.0], [1.0, 2.0]) == Estimate(2.0, 2.0, 2.0)
