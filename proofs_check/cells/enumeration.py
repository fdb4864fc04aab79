"""Expectations of a sampler program over all cells of signs at once.

The program is run on Symbols. Where it draws, every branch is taken and weighted; where it compares, the
cell is cut in two; where both parts give the same function they are joined again at once. So a sum over
drafts is a sum of decision trees, and cuts that only concerned one draft are gone before the next is added.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from flint import fmpq_mpoly_ctx

from draftproof.proofs_check.cells.cell import Cell, Cut
from draftproof.proofs_check.cells.solver import Solver
from draftproof.proofs_check.cells.symbol import Symbol, field
from draftproof.proofs_check.cells.tree import Leaf, Split, Tree, from_json, mapped, split, to_json
from draftproof.simulators.laws.enumerate import Invalid
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, total

Program: TypeAlias = Callable[[Oracle], Symbol]  # a sampler program whose result is a number

WHOLE = -1  # the number of branches of a saved tree that sums all of them


class Checkpoint:
    """What a proof that ran out of time had worked out, so that the next run need not do it again.

    A step is one run of the verifier that came to an end, or one cut of a sum of two trees. After every
    step the tree of what is done is saved under its place, which names the draws and the cell that it
    belongs to. A tree replaces those it was made of, so that little is saved at any time.
    """

    def __init__(self, number: type[Symbol], saved: dict[str, Any] | None = None):
        self._order: list[str] = []
        self._trees: dict[str, tuple[int, Tree]] = {
            place: (branches, from_json(number, tree)) for place, (branches, tree) in (saved or {}).items()
        }

    def recall(self, place: str) -> tuple[int, Tree] | None:
        """(branches summed or WHOLE, tree) of an earlier run."""
        found = self._trees.get(place)
        if found is not None:
            self._order.append(place)
        return found

    @property
    def mark(self) -> int:
        """How many trees were saved or recalled so far."""
        return len(self._order)

    def save(self, mark: int, place: str, branches: int, tree: Tree) -> None:
        """Saves the tree in place of all that was saved or recalled since the mark."""
        for old in self._order[mark:]:
            self._trees.pop(old, None)
        self._order[mark:] = [place]
        self._trees[place] = branches, tree

    def to_json(self) -> dict[str, Any]:
        """All that is saved, for a JSON file."""
        return {place: [branches, to_json(tree)] for place, (branches, tree) in self._trees.items()}


class _Draw(Exception):
    # The program has to draw, from branches (choice, probability).
    def __init__(self, branches: list[tuple[int, Symbol]]):
        super().__init__("a choice to be made")
        self.branches = branches


class _Replay:
    # The oracle that repeats the choices of a trail, then stops the program at its next draw.
    def __init__(self, trail: tuple[int, ...]):
        self._left = iter(trail)

    def choose(self, row: Row) -> int:
        for choice in self._left:
            return choice
        must_have_mass_one(row)
        raise _Draw(list(enumerate(row)))

    def accept(self, probability: Any) -> bool:
        for choice in self._left:
            return bool(choice)
        raise _Draw([(1, probability), (0, 1 - probability)])


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
        self.solver = Solver()
        self.checked = checked
        self.number = field(variables, lambda signs, *product: self.cell.within(signs, *product))
        self.deadline = deadline
        self.cells = 0
        self.cell = Cell(self.solver, {})
        self.checkpoint = Checkpoint(self.number)

    def expectation(self, program: Program, cell: Cell, saved: dict[str, Any] | None = None) -> Tree:
        """E[program] over all its draws, as a function on the cell; `saved` is an earlier call's checkpoint.
        Raises OutOfTime, but not before a step was added to the checkpoint, and Invalid when the present
        cell shows a probability that is negative or a row whose mass is not 1.
        """
        self.checkpoint = Checkpoint(self.number, saved)
        return self._after(program, cell, ())

    def _after(self, program: Program, cell: Cell, trail: tuple[int, ...]) -> Tree:
        # The expectation after the draws of the trail.
        place = f"{' '.join(map(str, trail))} {cell.key}"
        mark = self.checkpoint.mark
        saved = self.checkpoint.recall(place)
        if saved is not None and saved[0] == WHOLE:
            return saved[1]
        self.solver.check_time()
        self.cell = cell
        outcome: Symbol | Cut | _Draw
        try:
            outcome = program(_Replay(trail))
        except (Cut, _Draw) as stopped:  # dealt with below: recursion in here would keep all of them alive
            outcome = stopped
        if isinstance(outcome, Cut):
            return split(
                cell, outcome.polynomial, outcome.signs, lambda part, _: self._after(program, part, trail)
            )
        if isinstance(outcome, Symbol):
            self.cells += 1
            leaf = Leaf(self.reduced(cell, outcome))
            self._save(mark, place, WHOLE, leaf)
            return leaf
        done, whole = saved or (0, None)
        for x, mass in outcome.branches[done:]:
            branch = self._branch(program, cell, (*trail, x), mass)
            done += 1
            whole = branch if whole is None else self.sum(cell, whole, branch, f"{done} of {place}")
            self._save(mark, place, done if done < len(outcome.branches) else WHOLE, whole)
        assert whole is not None
        return whole

    def sum(self, cell: Cell, a: Tree, b: Tree, name: str = "") -> Tree:
        """a + b on the cell. Long sums are saved part by part, under the name given."""
        cut = a if isinstance(a, Split) else b
        if not isinstance(cut, Split):
            assert isinstance(a, Leaf)
            assert isinstance(b, Leaf)
            return Leaf(a.value + b.value)
        place = f"{name} on {cell.key}"
        mark = self.checkpoint.mark
        if (saved := self.checkpoint.recall(place)) is not None:
            return saved[1]

        def part(inside: Cell, yes: bool) -> Tree:
            side = cut.yes if yes else cut.no
            return self.sum(inside, side, b, name) if cut is a else self.sum(inside, a, side, name)

        whole = split(cell, cut.polynomial, cut.signs, part)
        self._save(mark, place, WHOLE, whole)
        return whole

    def _save(self, mark: int, place: str, branches: int, tree: Tree) -> None:
        self.checkpoint.save(mark, place, branches, tree)
        self.solver.deadline = self.deadline  # only from the first step on: every run gets further

    def _branch(self, program: Program, cell: Cell, trail: tuple[int, ...], mass: Symbol) -> Tree:
        # A branch is entered where its mass is positive, and only there; elsewhere it adds nothing.
        self.cell = cell
        try:
            possible = mass > 0
            negative = not (possible or self.checked) and mass < 0
        except Cut as cut:
            polynomial, signs = cut.polynomial, cut.signs
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
