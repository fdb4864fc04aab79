"""A tree of fixed shape, siblings drawn with or without replacement."""

from dataclasses import dataclass
from math import perm, prod
from typing import ClassVar

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.shape import Shaped, grow, inner
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row, has_mass, without
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class Tree(Shaped):
    """With replacement the children of a node are i.i.d. from q and duplicates stay separate
    (miao2024specinfer); without, each is drawn from q renormalised without the earlier ones
    (jeon2024recursive), and the order of drawing is part of the draft.
    """

    replacement: bool = False
    kind: ClassVar[str] = "tree"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.replacement, bool):
            raise BadInput(f"replacement must be true or false, not {quoted(self.replacement)}")

    @property
    def label(self) -> str:
        return "tree with replacement" if self.replacement else "tree without replacement"

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        siblings = with_replacement if self.replacement else without_replacement
        root = grow(oracle, proposal, context, self.shape, siblings)
        return Draft(root, replacement=self.replacement)

    def outcomes(self, support: int) -> int:
        if self.replacement:
            return prod(support**children for children in inner(self.shape))
        return prod(perm(support, min(children, support)) for children in inner(self.shape))


def with_replacement(oracle: Oracle, q: Row, count: int) -> list[int]:
    """Siblings i.i.d. from q."""
    return [oracle.choose(q) for _ in range(count)]


def without_replacement(oracle: Oracle, q: Row, count: int) -> list[int]:
    """Siblings one after the other, each from q without the earlier ones, while q has mass."""
    tokens: list[int] = []
    while len(tokens) < count and has_mass(q):
        x = oracle.choose(q)
        tokens.append(x)
        q = without(q, x)
    return tokens


SCHEME = Tree
