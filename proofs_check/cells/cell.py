"""A cell: the part of the domain where some polynomials have known signs; and cutting a cell in two."""

from dataclasses import dataclass

from flint import fmpq, fmpq_mpoly

from draftproof.proofs_check.cells.solver import Point, Solver
from draftproof.proofs_check.cells.symbol import (
    ANY,
    NEGATIVE,
    POSITIVE,
    ZERO,
    Symbol,
    flip,
    raised,
    sign,
    solve,
    substitute,
    times,
    value,
)


class Cut(Exception):
    """A comparison needs to know whether the sign of a polynomial lies in a set: (polynomial, signs)."""


@dataclass(slots=True, eq=False)
class Cell:
    """`facts` (key of a polynomial -> its possible signs), the substitutions `equal` that the linear
    equalities among them give, and a rational `point` inside if one is known. Immutable.
    """

    solver: Solver
    facts: dict[str, int]
    equal: tuple[tuple[str, fmpq_mpoly], ...] = ()
    point: Point | None = None

    def reduce(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """The polynomial after the cell's linear equalities are substituted."""
        if self.equal and not polynomial.is_constant():
            for name, value in self.equal:
                polynomial = substitute(polynomial, name, value)
        return polynomial

    def signs(self, polynomial: fmpq_mpoly) -> int:
        """The possible signs of the polynomial, as far as those of its factors are known."""
        return self._signs(self.reduce(polynomial))

    def within(self, wanted: int, *product: fmpq_mpoly) -> bool:
        """Whether the sign of the product lies in `wanted`; raises Cut when that is not known."""
        known, open_ = POSITIVE, []
        for polynomial in map(self.reduce, product):
            signs = self._signs(polynomial)
            if signs in (NEGATIVE, ZERO, POSITIVE):
                known = times(known, signs)
                continue
            key, flipped = self.solver.canonical(polynomial)
            known = flip(known) if flipped else known
            open_ += self.solver.factors(key)
        possible = known
        for key, power in open_:
            possible = times(possible, raised(self.facts.get(key, ANY), power))
        if not possible & ~wanted:
            return True
        if not possible & wanted:
            return False
        undecided = []
        for key, power in open_:
            signs = self.facts.get(key, ANY)
            if signs in (NEGATIVE, ZERO, POSITIVE):
                known = times(known, raised(signs, power))
            else:
                undecided.append((key, power))
        key, power = undecided[0]
        if len(undecided) == 1 and power == 1:
            raise Cut(self.solver.polynomials[key], flip(wanted) if known == NEGATIVE else wanted)
        raise Cut(self.solver.polynomials[key], POSITIVE if self.facts.get(key, ANY) & POSITIVE else NEGATIVE)

    def agree(self, a: Symbol, b: Symbol) -> bool:
        """Whether the cell's equalities show a = b, both being defined on the cell."""
        return self.vanishes(a.top * b.bottom - b.top * a.bottom)

    def vanishes(self, polynomial: fmpq_mpoly) -> bool:
        """Whether the cell's equalities show that the polynomial is zero on it. False proves nothing.

        They show it by a factor that is zero, or by elimination: an equality c v + b = 0, c not zero on the
        cell, removes the variable v from the polynomial times a power of c, which is their resultant.
        """
        polynomial = self.reduce(polynomial)
        if self._signs(polynomial) == ZERO:
            return True
        for key in self.facts:
            equation = self.solver.polynomials[key]
            if self._signs(equation) == ZERO:
                if not divmod(polynomial, equation)[1]:
                    return True
                for at, degree in enumerate(equation.degrees()):
                    linear = degree == 1 and polynomial.degrees()[at]
                    if linear and not self.signs(equation.derivative(at)) & ZERO:
                        polynomial = polynomial.resultant(equation, at)
                        break
                if not polynomial:
                    return True
        return False

    def _signs(self, polynomial: fmpq_mpoly) -> int:
        if not polynomial:
            return ZERO
        if polynomial.is_constant():
            return sign(polynomial.leading_coefficient())
        key, flipped = self.solver.canonical(polynomial)
        known = POSITIVE
        for factor, power in self.solver.factors(key):
            known = times(known, raised(self.facts.get(factor, ANY), power))
        known &= self.facts.get(key, ANY)
        return flip(known) if flipped else known


def sides(cell: Cell, polynomial: fmpq_mpoly, signs: int) -> tuple[Cell | None, Cell | None]:
    """The parts of the cell where the sign lies in `signs` and where it does not; None if empty."""
    polynomial = cell.reduce(polynomial)
    if polynomial.is_constant():
        inside = sign(polynomial.leading_coefficient() if polynomial else fmpq(0)) & signs
        return (cell, None) if inside else (None, cell)
    key, signs = cell.solver.fact(polynomial, signs)
    known = cell.facts.get(key, ANY)
    yes, no = known & signs, known & ~signs
    if not yes or not no:
        return (cell if yes else None), (cell if no else None)
    sign_at_point = 0 if cell.point is None else sign(value(cell.solver.polynomials[key], cell.point))
    parts = _part(cell, key, yes, sign_at_point), _part(cell, key, no, sign_at_point)
    if parts == (None, None):  # z3 sees only now that the cell is empty: anything is true of it
        return with_fact(cell, key, yes, None), None
    return parts


def _part(cell: Cell, key: str, signs: int, sign_at_point: int) -> Cell | None:
    # The cell with that fact, None if empty. An inequality that is nowhere strict is an equality, and may
    # make equalities of others.
    strict = signs & ~ZERO
    if sign_at_point & strict:
        return with_fact(cell, key, signs, cell.point)
    if strict and (part := _found(cell, key, strict, signs)) is not None:
        return part
    if not signs & ZERO:
        return None
    part = with_fact(cell, key, ZERO, cell.point) if sign_at_point & ZERO else _found(cell, key, ZERO, ZERO)
    return _tightened(part, key, cell) if part is not None and strict else part


def _found(cell: Cell, key: str, wanted: int, kept: int) -> Cell | None:
    # The cell with the fact `kept`, None if z3 shows that nowhere in the cell the fact `wanted` holds.
    near = _near(cell, key)
    found = cell.solver.find([*near, (key, wanted)])
    if found is None:
        return None
    point = None
    if cell.point is not None and found:
        point = {**cell.point, **found}
        if not all(sign(value(cell.solver.polynomials[k], point)) & s for k, s in [*near, (key, wanted)]):
            point = None
    return with_fact(cell, key, kept, point)


def _tightened(cell: Cell, key: str, before: Cell) -> Cell:
    # The cell with equalities for the inequalities near `key` that are nowhere strict.
    for old, _ in _near(before, key):
        polynomial = cell.reduce(cell.solver.polynomials[old])
        if polynomial.is_constant():
            continue
        known, _ = cell.solver.canonical(polynomial)
        signs = cell.facts.get(known, ANY)
        if signs in (NEGATIVE | ZERO, ZERO | POSITIVE) and _found(cell, known, signs & ~ZERO, signs) is None:
            cell = with_fact(cell, known, ZERO, cell.point)
    return cell


def _near(cell: Cell, key: str) -> list[tuple[str, int]]:
    # The facts that share variables with the polynomial, or with one that does, and so on.
    names = cell.solver.names[key]
    while True:
        near = [fact for fact in cell.facts.items() if not names.isdisjoint(cell.solver.names[fact[0]])]
        reached = names.union(*(cell.solver.names[fact] for fact, _ in near))
        if reached == names:
            return near
        names = reached


def with_fact(cell: Cell, key: str, signs: int, point: Point | None) -> Cell:
    facts = {**cell.facts, key: signs}
    if signs != ZERO or (solved := solve(cell.solver.polynomials[key])) is None:
        return Cell(cell.solver, facts, cell.equal, point)
    name, polynomial = solved
    rewritten: dict[str, int] = {}
    for old, known in facts.items():
        if name in cell.solver.names[old]:
            reduced = substitute(cell.solver.polynomials[old], name, polynomial)
            if reduced.is_constant():
                continue
            old, known = cell.solver.fact(reduced, known)
        rewritten[old] = rewritten.get(old, ANY) & known
    cell = Cell(cell.solver, rewritten, (*cell.equal, (name, polynomial)), point)
    for old, known in rewritten.items():
        if known == ZERO and solve(cell.solver.polynomials[old]) is not None:
            return with_fact(cell, old, ZERO, point)
    return cell
