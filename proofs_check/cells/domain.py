"""What a proof runs a verifier on: free tables of one size, drafts drawn lazily, rational points of cells."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import prod
from time import thread_time
from typing import Any

import z3
from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from draftproof.proofs_check.cells.cell import Cell
from draftproof.proofs_check.cells.enumeration import Enumeration
from draftproof.proofs_check.cells.solver import Point, rational
from draftproof.proofs_check.cells.symbol import POSITIVE, ZERO, Symbol, Unread, sign, unread, value
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.shape import Shape
from draftproof.theory.drafts.tree import Tree, with_replacement, without_replacement
from draftproof.theory.errors import BadInput
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Rows, Table

LARGEST = 600
"""Most free probabilities of a proof. With 2,046 a single run of token verification takes half a minute."""


class Domain:
    """Rows p(. | prefix) up to the depth and q(. | prefix) above it, each of V - 1 free parameters.

    The last entry is 1 minus the others, so rows always have mass 1; every entry may be zero.
    `leaves`: whether the target's rows after a full draft are free too; without it they cannot be computed
    with. `whole` is the cell of all of it; work stops after `seconds` of CPU time. Raises
    BadInput where there are more than LARGEST parameters. There are at least two tokens.
    """

    def __init__(self, vocab: int, depth: int, seconds: float = float("inf"), leaves: bool = False):
        self.vocab, self.depth, self.leaves = vocab, depth, leaves
        self.parameters = 2 * (vocab**depth - 1) + leaves * vocab**depth * (vocab - 1)
        if self.parameters > LARGEST:
            raise BadInput(
                f"a proof at vocab {vocab} and depth {depth} has {self.parameters:,} free probabilities, "
                f"more than the {LARGEST} that are tried"
            )
        rows = [
            (letter, prefix, ["_".join((letter, *map(str, prefix), str(x))) for x in range(vocab - 1)])
            for length in range(depth + 1)
            for prefix in product(range(vocab), repeat=length)
            for letter in ("pq" if length < depth else "p" * leaves)
        ]
        variables = fmpq_mpoly_ctx.get([name for *_, names in rows for name in names], Ordering.degrevlex)
        self.enumeration = Enumeration(variables, thread_time() + seconds)
        self.number = self.enumeration.number
        solver = self.enumeration.solver
        tables: dict[str, dict[Prefix, Row]] = {"p": {}, "q": {}}
        facts: dict[str, int] = {}
        point: Point = {}
        for at, (letter, prefix, names) in enumerate(rows):
            row = [variables.gen(variables.variable_to_index(name)) for name in names]
            row.append(variables.constant(1) - sum(row, variables.constant(0)))
            for x, name in enumerate(names):  # somewhere inside, and nowhere special
                point[name] = fmpq(1, vocab) + fmpq(1 + (7 * at + 3 * x) % 11, 997 * vocab)
            facts |= dict(solver.fact(entry, ZERO | POSITIVE) for entry in row)
            tables[letter][prefix] = tuple(map(self.number, row))
        if not leaves:
            for prefix in product(range(vocab), repeat=depth):
                tables["p"][prefix] = unread(self.number, vocab)
        self.target, self.proposal = Table(vocab, tables["p"]), Table(vocab, tables["q"])
        self.whole = Cell(solver, facts, (), point)

    def at(self, point: Point) -> tuple[Table, Table]:
        """The rational target and proposal at a point; rows that are not free are uniform."""
        values = [point[name] for name in self.number.variables.names()]

        def number(entry: Symbol | Unread) -> fmpq:
            return fmpq(entry.top(*values)) if isinstance(entry, Symbol) else fmpq(1, self.vocab)

        def rows(table: Table) -> Table:
            return Table.exact(self.vocab, {prefix: map(number, row) for prefix, row in table.given()})

        return rows(self.target), rows(self.proposal)

    def product(self, word: Prefix, rows: Rows) -> Symbol:
        """The product of the rows' probabilities along the word."""
        return prod((rows[word[:i]][x] for i, x in enumerate(word)), start=self.number(1))


class _Lazy(Node):
    # A node that draws its children, always together, when a verifier first looks at them.
    def __init__(self, oracle: Oracle, scheme: Tree, table: Rows, prefix: Prefix, shape: Shape):
        self.prefix: Prefix = prefix
        self.shape = shape
        self.proposal = table[prefix] if shape else None  # type: ignore[assignment]
        self._oracle, self._scheme, self._table = oracle, scheme, table

    @cached_property
    def children(self) -> tuple[Node, ...]:  # type: ignore[override]
        if not self.shape:
            return ()
        siblings = with_replacement if self._scheme.replacement else without_replacement
        tokens = siblings(self._oracle, self.proposal, len(self.shape))
        return tuple(
            _Lazy(self._oracle, self._scheme, self._table, (*self.prefix, x), below)
            for x, below in zip(tokens, self.shape, strict=False)
        )


def draw(scheme: Scheme, oracle: Oracle, proposal: Rows) -> Draft:
    """The scheme's draft; children of a tree's node are drawn when a verifier first looks at them.

    What is drawn below a node depends on nothing but the proposal, so the joint law of draft and verdict
    stays the same, and subtrees that the verifier never looks at cost a proof nothing.
    """
    if isinstance(scheme, Tree):
        return Draft(_Lazy(oracle, scheme, proposal, (), scheme.shape), replacement=scheme.replacement)
    return scheme.draw(oracle, proposal)


def rational_points(cell: Cell) -> Iterator[Point]:
    """Points of the cell: the one it knows, then some near the point that z3 finds, which may be irrational.
    Strict inequalities that hold at an irrational point hold near it; an equation that is linear in some
    variable is solved for that variable.
    """
    if cell.point is not None:
        yield cell.point
    model = _model(cell)
    if model is None:
        return
    for digits in (1, 2, 4, 8, 16, 32):
        point = {name: _simple(number, digits) for name, number in model.items()}
        if _solve_equations(cell, point) and all(
            sign(value(cell.solver.polynomials[key], point)) & signs for key, signs in cell.facts.items()
        ):
            yield point


def why_none(cell: Cell) -> str:
    """What is known of a cell in which no rational point was found."""
    for polynomial in _equations(cell):
        used = [degree for degree in polynomial.degrees() if degree]
        if len(used) == 1 and all(sum(factor.degrees()) > 1 for factor, _ in polynomial.factor()[1]):
            return f"there is none, it has {polynomial} = 0"
    return "none was found"


def _equations(cell: Cell) -> list[fmpq_mpoly]:
    return [cell.solver.polynomials[key] for key, signs in cell.facts.items() if signs == ZERO]


def _model(cell: Cell) -> dict[str, Any] | None:
    # z3's point, strictly inside if possible; None where z3 finds none.
    for strict in (True, False):
        facts = [
            (key, signs & ~ZERO if strict and signs != ZERO else signs) for key, signs in cell.facts.items()
        ]
        answer, model = cell.solver.model(facts)
        if answer == z3.sat:
            names = next(iter(cell.solver.polynomials.values())).context().names()
            return {name: model.get(name, z3.RealVal(0)) for name in names}
    return None


def _simple(number: Any, digits: int) -> fmpq:
    # The simplest fraction within that many digits.
    exact = rational(number, digits + 2)
    found = Fraction(int(exact.p), int(exact.q)).limit_denominator(10**digits)
    return fmpq(found.numerator, found.denominator)


def _solve_equations(cell: Cell, point: Point) -> bool:
    # Solves every equation for one variable of its own; False if some equation is linear in none.
    solved: set[str] = set()
    for polynomial in _equations(cell):
        names = polynomial.context().names()
        for at, degree in enumerate(polynomial.degrees()):
            slope = value(polynomial.derivative(at), point) if degree == 1 else fmpq(0)
            if slope and names[at] not in solved:
                point[names[at]] -= value(polynomial, point) / slope
                solved.add(names[at])
                break
        else:
            return False
    for name, polynomial in reversed(cell.equal):
        point[name] = value(polynomial, point)
    return True
