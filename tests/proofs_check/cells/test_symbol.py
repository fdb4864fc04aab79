"""Symbols are rational functions, and ask their ground for every sign."""

import pytest
from flint import Ordering, fmpq, fmpq_mpoly_ctx
from hypothesis import given
from hypothesis import strategies as st

from draftproof.proofs_check.cells.cell import Cut, sides
from draftproof.proofs_check.cells.domain import Domain
from draftproof.proofs_check.cells.enumeration import Enumeration
from draftproof.proofs_check.cells.symbol import LeafRead, identical, unread

RUN = Enumeration(fmpq_mpoly_ctx.get(["x", "y"], Ordering.degrevlex))
x, y = (RUN.number(gen) for gen in RUN.number.variables.gens())
whole = st.integers(-5, 5)


def at(symbol, a, b):
    return symbol.top(a, b) / symbol.bottom(a, b)


@given(a=whole, b=whole, c=whole, m=whole, n=whole)
def test_arithmetic_is_that_of_the_values(a, b, c, m, n):
    with_values = [(x + m, a + m), (y * n - x, b * n - a), (c - x * y, c - a * b), (m * x + 1, m * a + 1)]
    for s, v in with_values:
        for t, w in with_values:
            assert at(s + t, a, b) == v + w
            assert at(s - t, a, b) == v - w
            assert at(s * t, a, b) == v * w
            assert at(s**2, a, b) == v**2


def test_constants_compare_without_a_ground():
    one = type(x)(1)
    assert one > 0
    assert one < 2
    assert one == 1
    assert not type(x)(0)
    assert one / 3 == fmpq(1, 3)


def test_a_comparison_that_is_open_cuts():
    with pytest.raises(Cut):
        bool(x < y)


def test_a_quotient_is_in_lowest_terms():
    domain = Domain(2, 1)
    p, q = domain.target[()][0], domain.proposal[()][0]
    domain.enumeration.cell = sides(domain.whole, q.top, 4)[0]
    assert identical(p / q * q, p)
    assert identical((p * p - q * q) / q * q, (p - q) * (p + q))


def test_nothing_that_rounds_gets_in():
    with pytest.raises(TypeError):
        x + 0.5
    with pytest.raises(TypeError):
        type(x)(0.5)
    with pytest.raises(TypeError):
        hash(x)


def test_dividing_by_zero_is_an_error():
    with pytest.raises(ZeroDivisionError):
        x / (y - y)


def test_an_unread_row_makes_constants_and_nothing_else():
    row = unread(type(x), 2)
    assert len(row) == 2
    assert type(row[0])(1) == 1
    for use in (lambda: row[0] + x, lambda: x * row[1], lambda: row[0] > 0):
        with pytest.raises(LeafRead):
            use()
