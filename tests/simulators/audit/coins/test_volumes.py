"""Volumes in closed form against chance, and against what is known by hand."""

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.simulators.audit.coins.volumes import products, race
from draftproof.theory.numbers import ONE, ZERO

WHOLE = (ZERO, ONE)
ratios = st.builds(fmpq, st.integers(1, 6), st.integers(1, 6))
constraints = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] != pair[1]),
    ratios,
    max_size=5,
).map(lambda found: frozenset((a, b, c) for (a, b), c in found.items()))


@given(constraints, st.integers(0, 3), st.integers(0, 3), ratios)
def test_a_question_splits_a_race_in_two(known, a, b, c):
    if a != b:
        yes, no = race(known | {(a, b, c)}), race(known | {(b, a, 1 / c)})
        assert yes + no == race(known)


def test_races_have_the_laws_of_exponential_clocks():
    first = frozenset((x, 0, fmpq(x + 1)) for x in (1, 2))  # E_0 / 1 before E_1 / 2, E_2 / 3
    assert race(first) == ONE / (1 + 2 + 3)


@pytest.mark.parametrize("seed", range(3))
def test_races_agree_with_chance(seed):
    rng = np.random.default_rng(seed)
    E = rng.exponential(size=(200_000, 3))
    known = frozenset((a, b, fmpq(int(rng.integers(1, 4)), 4)) for a in range(3) for b in range(3) if a != b)
    held = np.all([E[:, a] >= float(c) * E[:, b] for a, b, c in known], axis=0)
    assert abs(held.mean() - float(race(known))) < 0.006


@pytest.mark.parametrize("t", [fmpq(1, 10), fmpq(1, 2), fmpq(9, 10)])
def test_the_product_of_two_uniforms(t):
    got = float(products((WHOLE, WHOLE), (WHOLE, (ZERO, t))))
    assert abs(got - float(t) * (1 - np.log(float(t)))) < 1e-15


def test_products_agree_with_chance():
    U = np.random.default_rng(0).random((200_000, 3))
    boxes = (WHOLE, (fmpq(1, 4), fmpq(3, 4)), WHOLE)
    bounds = ((fmpq(1, 10), ONE), (ZERO, fmpq(1, 3)), (fmpq(1, 50), fmpq(1, 5)))
    P = np.cumprod(U, axis=1)
    held = np.all(
        [
            (values[:, k] >= float(low)) & (values[:, k] < float(high))
            for values, limits in ((U, boxes), (P, bounds))
            for k, (low, high) in enumerate(limits)
        ],
        axis=0,
    )
    assert abs(held.mean() - float(products(boxes, bounds))) < 0.006


def test_bounds_that_do_nothing_leave_the_boxes():
    assert abs(products(((ZERO, fmpq(1, 2)), WHOLE), (WHOLE, WHOLE)) - fmpq(1, 2)) < fmpq(1, 2**200)
