"""Decision trees: a function that is one rational function on each of several cells."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from flint import fmpq_mpoly

from draftproof.proofs_check.cells.cell import Cell, sides
from draftproof.proofs_check.cells.symbol import ZERO, Symbol, identical


@dataclass(slots=True, eq=False)
class Leaf:
    """One rational function everywhere."""

    value: Symbol


@dataclass(slots=True, eq=False)
class Split:
    """`yes` where the polynomial's sign lies in `signs`, `no` elsewhere."""

    polynomial: fmpq_mpoly
    signs: int
    yes: "Tree"
    no: "Tree"


Tree: TypeAlias = Leaf | Split


def split(cell: Cell, polynomial: fmpq_mpoly, signs: int, go: Callable[[Cell, bool], Tree]) -> Tree:
    """Joins go(part, True) and go(part, False) of the two parts of the cell; an empty part is left out."""
    yes, no = sides(cell, polynomial, signs)
    if yes is None or no is None:
        return go(yes, True) if yes is not None else go(no, False)  # type: ignore[arg-type]
    return join(polynomial, signs, (yes, go(yes, True)), (no, go(no, False)))


def join(polynomial: fmpq_mpoly, signs: int, yes: tuple[Cell, Tree], no: tuple[Cell, Tree]) -> Tree:
    """The tree that is `yes` on one cell and `no` on the other; one of them alone if it is right on both."""
    for (_, here), (cell, there) in ((yes, no), (no, yes)):
        if serves(here, cell, there):
            return here
    return Split(polynomial, signs, yes[1], no[1])


def serves(tree: Tree, cell: Cell, other: Tree) -> bool:
    """Whether the cell's equalities show that `tree` is defined on the cell and equals `other` there."""
    cut = tree if isinstance(tree, Split) else other
    if isinstance(cut, Split):
        parts = zip(sides(cell, cut.polynomial, cut.signs), (cut.yes, cut.no), strict=True)
        pairs = ((part, *((side, other) if cut is tree else (tree, side))) for part, side in parts)
        return all(part is None or serves(here, part, there) for part, here, there in pairs)
    assert isinstance(tree, Leaf)
    if identical(tree.value, cut.value):
        return True
    return not cell.signs(tree.value.bottom) & ZERO and cell.agree(tree.value, cut.value)


def mapped(tree: Tree, function: Callable[[Symbol], Symbol]) -> Tree:
    """The tree with the function applied to every leaf."""
    if isinstance(tree, Leaf):
        return Leaf(function(tree.value))
    return Split(tree.polynomial, tree.signs, mapped(tree.yes, function), mapped(tree.no, function))


def leaves(cell: Cell, tree: Tree) -> list[tuple[Cell, Symbol]]:
    """The parts of the cell, each with its rational function."""
    if isinstance(tree, Leaf):
        return [(cell, tree.value)]
    parts = zip(sides(cell, tree.polynomial, tree.signs), (tree.yes, tree.no), strict=True)
    return [each for part, side in parts if part is not None for each in leaves(part, side)]
