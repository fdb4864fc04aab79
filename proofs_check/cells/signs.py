"""The outer enumeration: expectations of a sampler program over all cells of signs at once.

The program is run on Symbols. Where it draws, every branch is taken and weighted; where it
compares, the cell is cut in two; where both parts give the same function they are joined again at
once. So a sum over drafts is a sum of decision trees, and the cuts that only concerned one draft
are gone before the next is added.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from flint import fmpq_mpoly, fmpq_mpoly_ctx

from draftproof.proofs_check.cells.book import Book
from draftproof.proofs_check.cells.cell import Cell, Cut
from draftproof.proofs_check.cells.memory import WHOLE, Memory
from draftproof.proofs_check.cells.solver import Solver
from draftproof.proofs_check.cells.symbol import Symbol, field
from draftproof.proofs_check.cells.tree import Leaf, Split, Tree, mapped, split
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row

Program: TypeAlias = Callable[[Oracle], Symbol]
"""A sampler program whose result is a number."""


class _Draw(Exception):
    def __init__(self, branches: list[tuple[int, Symbol]]):
        super().__init__("a choice to be made")
        self.branches = branches


class _Replay:
    # The oracle that repeats the choices of a trail, then stops at the next one.
    def __init__(self, trail: tuple[int, ...]):
        self._left = iter(trail)

    def choose(self, row: Row) -> int:
        for choice in self._left:
            return choice
        raise _Draw(list(enumerate(row)))

    def accept(self, probability: Any) -> bool:
        for choice in self._left:
            return bool(choice)
        raise _Draw([(1, probability), (0, 1 - probability)])


class Signs:
    """The ground of one proof: variables, the book of facts, and the cell that stands now."""

    def __init__(
        self, variables: fmpq_mpoly_ctx, solver: Solver | None = None, deadline: float = float("inf")
    ):
        self.solver = solver or Solver()
        self.book = Book(self.solver)
        self.number = field(variables, self)
        self.deadline = deadline
        self.cells = 0
        self.here = Cell(self.book, {})
        self.memory = Memory(self.number)

    def within(self, signs: int, *product: fmpq_mpoly) -> bool:
        """Whether the sign of a product lies in a set of signs, in the present cell; raises Cut."""
        return self.here.within(signs, *product)

    def expectation(self, program: Program, cell: Cell, kept: dict[str, Any] | None = None) -> Tree:
        """E[program] over all its draws, as a function on the cell.

        `kept` is what an earlier call, that ran out of time, left in `memory`. Raises OutOfTime, but
        not before a step was added to that. `cells` counts the runs that came to an end: one a draw
        and cell.
        """
        self.memory = Memory(self.number, kept)
        return self._after(program, cell, ())

    def _after(self, program: Program, cell: Cell, trail: tuple[int, ...]) -> Tree:
        # The expectation after the draws of the trail.
        place = f"{' '.join(map(str, trail))} {cell.key}"
        mark = self.memory.mark
        kept = self.memory.recall(place)
        if kept is not None and kept[0] == WHOLE:
            return kept[1]
        self.solver.check_time()
        self.here = cell
        outcome: Symbol | Cut | _Draw
        try:
            outcome = program(_Replay(trail))
        except (Cut, _Draw) as pause:
            outcome = pause
        if isinstance(outcome, Cut):
            return split(
                cell,
                outcome.polynomial,
                outcome.signs,
                lambda part, _: self._after(program, part, trail),
            )
        if isinstance(outcome, Symbol):
            self.cells += 1
            leaf = Leaf(self.reduced(cell, outcome))
            self._keep(mark, place, WHOLE, leaf)
            return leaf
        done, whole = kept or (0, None)
        for x, mass in outcome.branches[done:]:
            branch = self._branch(program, cell, (*trail, x), mass)
            done += 1
            whole = branch if whole is None else self.sum(cell, whole, branch, f"{done} of {place}")
            self._keep(mark, place, done if done < len(outcome.branches) else WHOLE, whole)
        assert whole is not None
        return whole

    def sum(self, cell: Cell, a: Tree, b: Tree, of: str = "") -> Tree:
        """a + b on the cell. Long sums are kept part by part, under the name `of`."""
        cut = a if isinstance(a, Split) else b
        if not isinstance(cut, Split):
            assert isinstance(a, Leaf)
            assert isinstance(b, Leaf)
            return Leaf(a.value + b.value)
        place = f"{of} on {cell.key}"
        mark = self.memory.mark
        if (kept := self.memory.recall(place)) is not None:
            return kept[1]

        def part(inside: Cell, yes: bool) -> Tree:
            side = cut.yes if yes else cut.no
            return self.sum(inside, side, b, of) if cut is a else self.sum(inside, a, side, of)

        whole = split(cell, cut.polynomial, cut.signs, part)
        self._keep(mark, place, WHOLE, whole)
        return whole

    def _keep(self, mark: int, place: str, branches: int, tree: Tree) -> None:
        self.memory.keep(mark, place, branches, tree)
        self.solver.deadline = self.deadline  # not before: every run gets further

    def _branch(self, program: Program, cell: Cell, trail: tuple[int, ...], mass: Symbol) -> Tree:
        # A branch is entered where its mass is positive, and only there; elsewhere it adds nothing.
        self.here = cell
        try:
            possible = mass > 0
        except Cut as cut:
            polynomial, signs = cut.polynomial, cut.signs
        else:
            if not possible:
                return Leaf(self.number(0))
            mass = self.reduced(cell, mass)
            return mapped(self._after(program, cell, trail), lambda value: mass * value)
        return split(cell, polynomial, signs, lambda part, _: self._branch(program, part, trail, mass))

    def reduced(self, cell: Cell, number: Symbol) -> Symbol:
        """The number with the cell's equalities put in, in lowest terms again."""
        if not cell.equal:
            return number
        made = self.number(cell.reduce(number.top))
        return made * self.number(self.number(1).top, cell.reduce(number.bottom))
