"""Identities of the row operations, and that tuples and arrays of lanes agree on them."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.theory import rows as ops
from draftproof.theory.numbers import ONE, ZERO, exact
from tests.strategies import rows

V = 3
numbers = st.fractions(-3, 3, max_denominator=12).map(lambda f: fmpq(f.numerator, f.denominator))
shares = st.fractions(0, 1, max_denominator=12).map(lambda f: fmpq(f.numerator, f.denominator))
parts = st.lists(numbers, min_size=V, max_size=V).map(tuple)
laws = rows(V)

dyadic = st.integers(-64, 64).map(lambda n: fmpq(n, 16))  # floats hold these exactly, and their products too
masses = st.integers(0, 64).map(lambda n: fmpq(n, 16))
lanes = st.integers(1, 4)

OF_ROWS = {
    "excess": lambda p, q, a: ops.excess(p, q),
    "meet": lambda p, q, a: ops.meet(p, q),
    "add": lambda p, q, a: ops.add(p, q),
    "scale": lambda p, q, a: ops.scale(a, p),
    "normalise": lambda p, q, a: ops.normalise(p),
    "point": lambda p, q, a: ops.point(1, p),
    "otherwise": lambda p, q, a: ops.otherwise(ops.excess(p, q), q),
}
OF_NUMBERS = {
    "total": lambda p, q, a: ops.total(p),
    "one": lambda p, q, a: ops.one(p),
    "share": lambda p, q, a: ops.share(p[0], q[0]),
    "ratio": lambda p, q, a: ops.ratio(p[0], q[0]),
    "maximum": lambda p, q, a: ops.maximum(p[0], q[0]),
    "minimum": lambda p, q, a: ops.minimum(p[0], q[0]),
    "positive": lambda p, q, a: ops.positive(p[0] - q[0]),
}


def rounded(number: fmpq) -> float:
    """The nearest float: what one correctly rounded float operation gives."""
    return float(Fraction(int(number.p), int(number.q)))


@pytest.mark.parametrize("name", [*OF_ROWS, *OF_NUMBERS])
@given(data=st.data())
def test_tuples_floats_and_lanes_agree(name, data):
    size = data.draw(lanes)
    p = data.draw(st.lists(st.tuples(*[masses] * V), min_size=size, max_size=size))
    q = data.draw(st.lists(st.tuples(*[masses] * V), min_size=size, max_size=size))
    a = data.draw(st.lists(masses, min_size=size, max_size=size))
    as_array = [np.array([[rounded(x) for x in row] for row in many]).T for many in (p, q)]
    function = {**OF_ROWS, **OF_NUMBERS}[name]
    array = function(*as_array, np.array([rounded(x) for x in a]))
    for lane in range(size):
        wanted = function(p[lane], q[lane], a[lane])
        in_floats = function(tuple(map(rounded, p[lane])), tuple(map(rounded, q[lane])), rounded(a[lane]))
        if name in OF_ROWS:
            assert array[:, lane].tolist() == list(in_floats) == [rounded(x) for x in wanted]
        else:
            assert array[lane] == in_floats == rounded(wanted)


@given(laws, st.integers(0, V - 1))
def test_without_agrees_between_tuples_and_lanes(row, token):
    floats = tuple(map(rounded, row))
    assert tuple(ops.without(np.array([floats]).T, token)[:, 0]) == ops.without(floats, token)


@given(laws, laws, shares)
def test_deficit_is_excess_and_what_the_weight_lacks(p, q, w):
    wp = ops.scale(w, p)
    assert ops.total(ops.excess(q, wp)) == ops.total(ops.excess(wp, q)) + 1 - w


@given(parts, parts)
def test_excess_and_meet_add_up(p, q):
    assert ops.add(ops.excess(p, q), ops.meet(p, q)) == p
    assert ops.meet(p, q) == ops.meet(q, p)
    assert all(a == 0 or b == 0 for a, b in zip(ops.excess(p, q), ops.excess(q, p), strict=True))


@given(numbers, numbers)
def test_positive_maximum_and_minimum(a, b):
    assert ops.positive(a) - ops.positive(-a) == a
    assert ops.maximum(a, b) + ops.minimum(a, b) == a + b
    assert ops.maximum(a, b) - ops.minimum(a, b) == abs(a - b)


@given(shares, shares)
def test_share_is_the_ratio_capped_at_one(part, whole):
    assert ops.share(part, whole) == min(ONE, ops.ratio(part, whole))
    assert ops.share(part, whole) * whole == min(part, whole)
    assert whole == 0 or ops.ratio(part, whole) * whole == part


@pytest.mark.parametrize("part", [ZERO, exact("1/3"), ONE])
def test_a_share_of_nothing_is_one(part):
    assert ops.share(part, ZERO) == ops.ratio(part, ZERO) == 1
    lane, none = np.array([rounded(part)]), np.zeros(1)
    assert ops.share(lane, none) == ops.ratio(lane, none) == 1


@given(laws, st.integers(0, V - 1), st.integers(0, V - 1))
def test_without_conditions_on_the_other_tokens(row, x, y):
    rest = ops.without(row, x)
    assert rest[x] == 0
    assert ops.total(rest) == (0 if row[x] == 1 else 1)
    assert ops.scale(1 - row[x], rest) == tuple(ZERO if z == x else row[z] for z in range(V))
    assert ops.without(rest, y) == ops.without(ops.without(row, y), x)


@given(parts.map(lambda row: tuple(map(abs, row))))
def test_normalising_keeps_proportions(row):
    law = ops.normalise(row)
    assert ops.scale(ops.total(row), law) == row
    assert ops.normalise(law) == law
    assert ops.total(law) == (1 if any(row) else 0)


@given(laws)
def test_descending_order_breaks_ties_by_id(row):
    order = ops.descending(row)
    assert sorted(order) == list(range(V))
    assert all((-row[x], x) < (-row[y], y) for x, y in pairwise(order))


@given(laws, st.integers(0, V))
def test_supported_tokens_are_those_above_zero(row, count):
    above = [x for x in ops.descending(row) if row[x] > 0]
    floats = np.array([rounded(x) for x in row])
    assert ops.supported(row) == ops.supported(floats) == len(above)
    assert ops.likeliest(row, count) == above[:count]


def test_order_is_refused_to_lanes():
    with pytest.raises(TypeError, match="one instance at a time"):
        ops.descending(np.ones((V, 2)))


@given(laws)
def test_mass_is_what_lies_above_zero(row):
    assert ops.has_mass(row)
    assert not ops.has_mass((ZERO,) * V)
    assert [ops.possible(mass) for mass in row] == [mass > 0 for mass in row]
    assert not ops.possible(-ONE)


def test_lanes_without_mass_part_from_the_others():
    some = np.array([[0.0, 0.5], [0.0, 0.5]])
    with pytest.raises(ops.LanesDiffer) as differ:
        ops.has_mass(some)
    assert differ.value.mask.tolist() == [False, True]
    assert ops.has_mass(some[:, 1:])
    assert not ops.has_mass(some[:, :1])
    assert ops.possible(some[0])
    assert not ops.possible(np.zeros(2))


@pytest.mark.parametrize("size", ["1", "3", "1/3", f"1/{10**400}", f"{10**400}"])
def test_signs_are_exact_however_small_or_large_a_number_is(size):
    number = exact(size)
    assert [ops.above(each) for each in (-number, ZERO, number)] == [False, False, True]
    assert [ops.above(float(each)) for each in ("-0.5", "0", "5e-324")] == [False, False, True]
