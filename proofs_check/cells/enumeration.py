"""Expectations of a sampler program over all cells of signs at once.

The program is run on Symbols. Where it draws, every branch is taken and weighted; where it compares, the
cell is cut in two; where both parts give the same function they are joined again at once. So a sum over
drafts is a sum of decision trees, and cuts that only concerned one draft are gone before the next is added.
"""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any, TypeAlias

from flint import fmpq_mpoly_ctx

from draftproof.proofs_check.cells.cell import Cell, Cut
from draftproof.proofs_check.cells.solver import Solver
from draftproof.proofs_check.cells.symbol import Symbol, field
from draftproof.proofs_check.cells.tree import Leaf, Split, Tree, mapped, split
from draftproof.simulators.laws.enumerate import Invalid
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, total

Program: TypeAlias = Callable[[Oracle], Symbol]  # a sampler program whose result is a number


class Draw(Exception):
    """The program has to draw, from branches [(choice, probability)]; who draws, and after which tokens."""


class Replay:
    """The oracle that repeats the choices of a trail, then stops the program at its next draw."""

    def __init__(self, trail: tuple[int, ...]):
        self._left = iter(trail)

    def choose(self, row: Row) -> int:
        for choice in self._left:
            return choice
        must_have_mass_one(row)
        raise Draw(list(enumerate(row)), "coin", ())

    def accept(self, probability: Any) -> bool:
        for choice in self._left:
            return bool(choice)
        raise Draw([(1, probability), (0, 1 - probability)], "coin", ())


def must_have_mass_one(row: Row) -> None:
    """Raises Invalid where the row's mass is not 1."""
    if total(row) != 1:
        raise Invalid("a row does not sum to 1")


class Enumeration:
    """Runs programs on numbers of the type `number`, and answers their comparisons by the present cell;
    `cells` counts the runs that came to an end: one for each way of drawing in each cell. `checked`: the
    program itself refuses probabilities below 0.
    """

    def __init__(self, variables: fmpq_mpoly_ctx, deadline: float = float("inf"), checked: bool = False):
        self.solver = Solver(deadline)
        self.checked = checked
        self.number = field(variables, lambda signs, *product: self.cell.within(signs, *product))
        self.cells = 0
        self.cell = Cell(self.solver, {})

    def expectation(self, program: Program, cell: Cell) -> Tree:
        """E[program] over all its draws, as a function on the cell. Raises OutOfTime, and Invalid when the
        present cell shows a probability that is negative or a row whose mass is not 1.
        """
        return self._after(program, cell, ())

    def _after(self, program: Program, cell: Cell, trail: tuple[int, ...]) -> Tree:
        # The expectation after the draws of the trail.
        self.solver.check_time()
        self.cell = cell
        outcome: Symbol | Cut | Draw
        try:
            outcome = program(Replay(trail))
        except (Cut, Draw) as stopped:  # dealt with below: recursion in here would keep all of them alive
            outcome = stopped
        if isinstance(outcome, Cut):
            polynomial, signs = outcome.args
            return split(cell, polynomial, signs, lambda part, _: self._after(program, part, trail))
        if isinstance(outcome, Symbol):
            self.cells += 1
            return Leaf(self.reduced(cell, outcome))
        branches = (self._branch(program, cell, (*trail, x), mass) for x, mass in outcome.args[0])
        return reduce(partial(self.sum, cell), branches)

    def sum(self, cell: Cell, a: Tree, b: Tree) -> Tree:
        """a + b on the cell."""
        cut = a if isinstance(a, Split) else b
        if not isinstance(cut, Split):
            assert isinstance(a, Leaf)
            assert isinstance(b, Leaf)
            return Leaf(a.value + b.value)

        def part(inside: Cell, yes: bool) -> Tree:
            side = cut.yes if yes else cut.no
            return self.sum(inside, side, b) if cut is a else self.sum(inside, a, side)

        return split(cell, cut.polynomial, cut.signs, part)

    def _branch(self, program: Program, cell: Cell, trail: tuple[int, ...], mass: Symbol) -> Tree:
        # A branch is entered where its mass is positive, and only there; elsewhere it adds nothing.
        self.cell = cell
        try:
            possible = mass > 0
            negative = not (possible or self.checked) and mass < 0
        except Cut as cut:
            polynomial, signs = cut.args
        else:
            if negative:
                raise Invalid("a probability is negative")
            if not possible:
                return Leaf(self.number(0))
            mass = self.reduced(cell, mass)
            return mapped(self._after(program, cell, trail), lambda value: mass * value)
        return split(cell, polynomial, signs, lambda part, _: self._branch(program, part, trail, mass))

    def reduced(self, cell: Cell, number: Symbol) -> Symbol:
        """The number with the cell's equalities substituted, in lowest terms again."""
        if not cell.equal:
            return number
        top = self.number(cell.reduce(number.top))
        return top * self.number(self.number(1).top, cell.reduce(number.bottom))
