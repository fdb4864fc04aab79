"""Rational points inside a cell."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import z3
from flint import fmpq, fmpq_mpoly

from draftproof.proofs_check.cells.cell import Cell
from draftproof.proofs_check.cells.polynomials import value
from draftproof.proofs_check.cells.signset import ZERO, sign
from draftproof.proofs_check.cells.solver import CONDITIONS, expression

DIGITS = (1, 2, 4, 8, 16, 32)
"""How near the points tried come to z3's, which may be irrational."""


def rational_points(cell: Cell) -> Iterator[dict[str, fmpq]]:
    """Points of the cell: the one it knows, then ones near z3's. Open conditions that hold at an
    irrational point hold near it; an equation that is linear in some variable is solved for it.
    """
    if cell.point is not None:
        yield cell.point
    model = _model(cell)
    if model is None:
        return
    for digits in DIGITS:
        point = {name: _near(number, digits) for name, number in model.items()}
        if _solved(cell, point) and _inside(cell, point):
            yield point


def why_none(cell: Cell) -> str:
    """What is known of a cell in which no rational point was found."""
    for polynomial in _equations(cell):
        used = [degree for degree in polynomial.degrees() if degree]
        if len(used) == 1 and all(sum(factor.degrees()) > 1 for factor, _ in polynomial.factor()[1]):
            return f"there is none, it has {polynomial} = 0"
    return "none was found"


def _equations(cell: Cell) -> list[fmpq_mpoly]:
    return [cell.book.polynomials[key] for key, signs in cell.facts.items() if signs == ZERO]


def _model(cell: Cell) -> dict[str, Any] | None:
    # z3's point, strictly inside where it can be; None where z3 finds none.
    for strict in (True, False):
        solver = z3.SolverFor("QF_NRA")
        solver.set("timeout", cell.book.solver.milliseconds)
        for key, signs in cell.facts.items():
            inner = signs & ~ZERO if strict and signs != ZERO else signs
            if inner in CONDITIONS:
                solver.add(CONDITIONS[inner](expression(cell.book.polynomials[key])))
        if solver.check() == z3.sat:
            model: Any = solver.model()
            names = {variable.name(): model[variable] for variable in model if not variable.arity()}
            context = next(iter(cell.book.polynomials.values())).context()
            return {name: names.get(name, z3.RealVal(0)) for name in context.names()}
    return None


def _near(number: Any, digits: int) -> fmpq:
    # The simplest fraction that near, or the number itself when it is simpler still.
    if z3.is_algebraic_value(number):
        number = number.approx(digits + 2)
    exact: Fraction = number.as_fraction()
    found = exact.limit_denominator(10**digits)
    return fmpq(found.numerator, found.denominator)


def _solved(cell: Cell, point: dict[str, fmpq]) -> bool:
    # Sets one variable of every equation to what the others make it; False where none is linear.
    taken: set[str] = set()
    for polynomial in _equations(cell):
        names = polynomial.context().names()
        for at, degree in enumerate(polynomial.degrees()):
            slope = value(polynomial.derivative(at), point) if degree == 1 else fmpq(0)
            if slope and names[at] not in taken:
                point[names[at]] -= value(polynomial, point) / slope
                taken.add(names[at])
                break
        else:
            return False
    for name, polynomial in reversed(cell.equal):
        point[name] = value(polynomial, point)
    return True


def _inside(cell: Cell, point: dict[str, fmpq]) -> bool:
    return all(sign(value(cell.book.polynomials[key], point)) & signs for key, signs in cell.facts.items())
