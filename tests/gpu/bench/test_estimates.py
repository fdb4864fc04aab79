"""Ratios are paired and geometric."""

from math import exp, log

import pytest

pytest.importorskip("torch")
from hypothesis import given
from hypothesis import strategies as st

from draftproof.gpu.bench.report import ratio

speeds = st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.1, 100)), min_size=2, max_size=8)


@given(speeds)
def test_the_ratio_turned_round_is_its_inverse(pairs):
    ours, theirs = zip(*pairs, strict=True)
    there, back = ratio(ours, theirs), ratio(theirs, ours)
    assert there["value"] * back["value"] == pytest.approx(1)
    assert there["low"] * back["high"] == pytest.approx(1, rel=1e-6)
    assert there["low"] <= there["value"] * (1 + 1e-9)


def test_what_slows_both_does_not_widen_the_interval():
    found = ratio([10.0, 5.0, 2.5], [5.0, 2.5, 1.25])
    assert (found["value"], found["low"], found["high"]) == pytest.approx((2, 2, 2))
    wide = ratio([exp(1), exp(3)], [1.0, 1.0])
    assert log(wide["high"]) == pytest.approx(2 + 12.706204736)


def test_one_repeat_says_nothing_about_spread():
    found = ratio([3.0], [2.0])
    assert (found["value"], found["low"], found["high"]) == (pytest.approx(1.5), None, None)


def test_constant_ratios_have_no_width():
    assert ratio([2.0, 4.0], [1.0, 2.0]) == {"value": 2.0, "low": 2.0, "high": 2.0}
