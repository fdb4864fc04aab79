"""What a proof that ran out of time had worked out, so that the next run need not do it again.

A step is one run of the verifier that came to an end, or one cut of a sum of two trees. After every
step the tree of what is done is kept under the draws and the cell that it belongs to; a tree replaces
those it was made of, so that little is ever kept.
"""

from typing import Any

from flint import fmpq, fmpq_mpoly

from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.cells.tree import Leaf, Split, Tree

WHOLE = -1
"""Of how many branches a kept tree is the sum: all of them."""


class Memory:
    """Trees by where they stand."""

    def __init__(self, number: type[Symbol], kept: dict[str, Any] | None = None):
        self.number = number
        self._trees: dict[str, tuple[int, Tree]] = {}
        self._order: list[str] = []
        for place, (branches, spelled) in (kept or {}).items():
            self._trees[place] = branches, self._tree(spelled)

    def recall(self, place: str) -> tuple[int, Tree] | None:
        """(branches summed or WHOLE, tree) of an earlier run."""
        found = self._trees.get(place)
        if found is not None:
            self._order.append(place)
        return found

    @property
    def mark(self) -> int:
        """Where what is kept from now on begins."""
        return len(self._order)

    def keep(self, mark: int, place: str, branches: int, tree: Tree) -> None:
        """Keeps the tree in place of all that was kept or recalled since the mark."""
        for old in self._order[mark:]:
            self._trees.pop(old, None)
        self._order[mark:] = [place]
        self._trees[place] = branches, tree

    def spelled(self) -> dict[str, Any]:
        """All that is kept, for a JSON file."""
        return {place: [branches, _spelled(tree)] for place, (branches, tree) in self._trees.items()}

    def _tree(self, spelled: list[Any]) -> Tree:
        if len(spelled) == 2:
            return Leaf(self.number(*map(self._polynomial, spelled)))
        cut, signs, yes, no = spelled
        return Split(self._polynomial(cut), signs, self._tree(yes), self._tree(no))

    def _polynomial(self, terms: list[Any]) -> fmpq_mpoly:
        return self.number.variables.from_dict(
            {tuple(powers): fmpq(*map(int, coefficient.split("/"))) for coefficient, powers in terms}
        )


def _spelled(tree: Tree) -> list[Any]:
    if isinstance(tree, Leaf):
        return [_terms(tree.value.top), _terms(tree.value.bottom)]
    return [_terms(tree.polynomial), tree.signs, _spelled(tree.yes), _spelled(tree.no)]


def _terms(polynomial: fmpq_mpoly) -> list[Any]:
    return [[str(coefficient), list(map(int, powers))] for powers, coefficient in polynomial.terms()]
