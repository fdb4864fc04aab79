"""Cutting a cell in two by the sign of a polynomial: z3 says which part is empty."""

from flint import fmpq, fmpq_mpoly

from draftproof.proofs_check.cells.cell import Cell
from draftproof.proofs_check.cells.polynomials import put, solve, value
from draftproof.proofs_check.cells.signset import ANY, NEGATIVE, POSITIVE, ZERO, flip, sign


def sides(cell: Cell, polynomial: fmpq_mpoly, signs: int) -> tuple[Cell | None, Cell | None]:
    """The parts of the cell where the sign lies in `signs` and where it does not; None if empty."""
    polynomial = cell.reduce(polynomial)
    if polynomial.is_constant():
        inside = sign(polynomial.leading_coefficient() if polynomial else fmpq(0)) & signs
        return (cell, None) if inside else (None, cell)
    key, flipped = cell.book.spell(polynomial)
    signs = flip(signs) if flipped else signs
    known = cell.facts.get(key, ANY)
    yes, no = known & signs, known & ~signs
    if not yes or not no:
        return (cell if yes else None), (cell if no else None)
    there = 0 if cell.point is None else sign(value(cell.book.polynomials[key], cell.point))
    parts = _part(cell, key, yes, there), _part(cell, key, no, there)
    if parts == (None, None):  # the cell is empty, which z3 had not seen before: anything is true of it
        return _with(cell, key, yes, None), None
    return parts


def _part(cell: Cell, key: str, signs: int, there: int) -> Cell | None:
    # An inequality that is nowhere strict is an equality, and may make others so.
    strict = signs & ~ZERO
    if there & strict:
        return _with(cell, key, signs, cell.point)
    if strict and (part := _found(cell, key, strict, signs)) is not None:
        return part
    if not signs & ZERO:
        return None
    part = _with(cell, key, ZERO, cell.point) if there & ZERO else _found(cell, key, ZERO, ZERO)
    return _tightened(part, key, cell) if part is not None and strict else part


def _found(cell: Cell, key: str, asked: int, kept: int) -> Cell | None:
    near = _near(cell, key)
    found = cell.book.solver.find([*near, (key, asked)], cell.book.polynomials)
    if found is None:
        return None
    point = None
    if cell.point is not None and found:
        point = {**cell.point, **found}
        if not all(sign(value(cell.book.polynomials[k], point)) & s for k, s in [*near, (key, asked)]):
            point = None
    return _with(cell, key, kept, point)


def _tightened(cell: Cell, key: str, before: Cell) -> Cell:
    # Inequalities near `key` that are nowhere strict become equalities.
    for old, _ in _near(before, key):
        polynomial = cell.reduce(cell.book.polynomials[old])
        if polynomial.is_constant():
            continue
        known, _ = cell.book.spell(polynomial)
        signs = cell.facts.get(known, ANY)
        if signs in (NEGATIVE | ZERO, ZERO | POSITIVE) and _found(cell, known, signs & ~ZERO, signs) is None:
            cell = _with(cell, known, ZERO, cell.point)
    return cell


def _near(cell: Cell, key: str) -> list[tuple[str, int]]:
    # The facts that share variables with the polynomial, or with one that does, and so on.
    names = cell.book.names[key]
    while True:
        near = [fact for fact in cell.facts.items() if not names.isdisjoint(cell.book.names[fact[0]])]
        reached = names.union(*(cell.book.names[fact] for fact, _ in near))
        if reached == names:
            return near
        names = reached


def _with(cell: Cell, key: str, signs: int, point: dict[str, fmpq] | None) -> Cell:
    facts = {**cell.facts, key: signs}
    if signs != ZERO or (solved := solve(cell.book.polynomials[key])) is None:
        return Cell(cell.book, facts, cell.equal, point)
    name, polynomial = solved
    rewritten: dict[str, int] = {}
    for old, known in facts.items():
        if name in cell.book.names[old]:
            reduced = put(cell.book.polynomials[old], name, polynomial)
            if reduced.is_constant():
                continue
            old, flipped = cell.book.spell(reduced)
            known = flip(known) if flipped else known
        rewritten[old] = rewritten.get(old, ANY) & known
    cell = Cell(cell.book, rewritten, (*cell.equal, (name, polynomial)), point)
    for old, known in rewritten.items():
        if known == ZERO and solve(cell.book.polynomials[old]) is not None:
            return _with(cell, old, ZERO, point)
    return cell
