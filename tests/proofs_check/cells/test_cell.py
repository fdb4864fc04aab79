"""Cells: facts about signs, what follows from them, and what is empty."""

from itertools import product

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from draftproof.proofs_check.cells.cell import Cut, sides
from draftproof.proofs_check.cells.domain import Domain, draw
from draftproof.proofs_check.cells.symbol import NEGATIVE, POSITIVE, ZERO, flip, raised, sign, solve, times
from draftproof.simulators.laws.enumerate import outcomes
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.table import Table

VALUES = {NEGATIVE: -1, ZERO: 0, POSITIVE: 1}
SETS = range(1, 8)


def members(signs):
    return [value for bit, value in VALUES.items() if signs & bit]


def gathered(values):
    return sum({sign(fmpq(value)) for value in values})


@pytest.mark.parametrize(("a", "b"), list(product(SETS, SETS)))
def test_signs_of_products(a, b):
    assert times(a, b) == gathered(u * v for u in members(a) for v in members(b))


@pytest.mark.parametrize("a", SETS)
def test_signs_of_opposites_and_powers(a):
    assert flip(a) == gathered(-u for u in members(a))
    assert raised(a, 2) == gathered(u * u for u in members(a))
    assert raised(a, 3) == gathered(u**3 for u in members(a))


def rows(vocab, depth=1):
    domain = Domain(vocab, depth)
    return domain, domain.target[()], domain.proposal[()]


def test_a_row_is_never_negative_and_never_above_one():
    domain, p, _ = rows(3)
    for entry in p:
        assert sides(domain.whole, entry.top, NEGATIVE)[0] is None
        assert None not in sides(domain.whole, entry.top, ZERO)
        assert sides(domain.whole, entry.top - 1, POSITIVE)[0] is None


def test_nowhere_more_everywhere_means_equal():
    domain, p, q = rows(4)
    cell = domain.whole
    for a, b in list(zip(p, q, strict=True)):
        cell = sides(cell, (a - b).top, NEGATIVE | ZERO)[0]
        assert cell is not None
    for a, b in zip(p, q, strict=True):
        assert cell.agree(a, b)


def test_both_sides_of_a_cut_hold_what_was_asked():
    domain, p, q = rows(2)
    product_ = (p[0] * q[1] - q[0] * p[1]).top
    for part, signs in zip(sides(domain.whole, product_, POSITIVE), (POSITIVE, NEGATIVE | ZERO), strict=True):
        assert part is not None
        assert not part.signs(product_) & ~signs
        assert part.within(signs, product_)


def test_an_open_question_cuts():
    domain, p, q = rows(2)
    with pytest.raises(Cut) as cut:
        domain.whole.within(NEGATIVE, (p[0] - q[0]).top)
    assert cut.value.args[1] in (NEGATIVE, POSITIVE)


def test_a_point_stays_in_its_cell():
    domain, p, q = rows(3)
    cell = domain.whole
    for a, b in zip(p, q, strict=True):
        yes, no = sides(cell, (a - b).top, POSITIVE)
        cell = no or yes
        values = [cell.point[name] for name in p[0].variables.names()]
        for key, signs in cell.facts.items():
            assert sign(cell.solver.polynomials[key](*values)) & signs


def test_an_equality_of_products_is_used():
    domain, p, q = rows(2)
    equation = (p[0] * p[1] - q[0] * q[1]).top
    cell = sides(domain.whole, equation, ZERO)[0]
    assert cell.vanishes(equation * p[0].top)
    assert not cell.vanishes(p[0].top)


@given(st.integers(-3, 3), st.integers(-3, 3))
def test_elimination_replaces_the_variable(b, c):
    _, p, q = rows(2)
    u, v = p[0].top, q[0].top
    equation = u * v + b  # u = -b / v
    polynomial = u**2 + c * u + v
    at = equation.context().variable_to_index("p_0")
    found = polynomial.resultant(equation, at)
    assert found in (b * b - c * b * v + v**3, -(b * b - c * b * v + v**3))
    assert solve(v - u) is not None
    assert solve(u * v - 1) is None


def test_the_signs_of_minus_a_number():
    assert flip(NEGATIVE | ZERO) == POSITIVE | ZERO


def test_children_drawn_lazily_have_the_law_of_the_draft():
    coin = Table.exact(2, {(): ["1/4", "3/4"]})
    pair = Tree((((),), ((),)), replacement=True)
    law = [weight for weight, _ in outcomes(lambda oracle: draw(pair, oracle, coin).root.children)]
    assert law == [fmpq(n, 16) for n in (1, 3, 3, 9)]


def test_the_rows_of_a_domain_are_free_but_for_their_mass():
    domain = Domain(2, 1)
    assert repr(domain.target[()]) == "(p_0, -p_0 + 1)"
    assert domain.parameters == 2
