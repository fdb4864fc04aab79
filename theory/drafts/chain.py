"""One path: X_i ~ q(. | X^{i-1})."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.shape import checked_depth
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class Chain:
    """A chain of `depth` tokens (leviathan2023fast).

    >>> Chain(2).outcomes(support=3)
    9
    """

    depth: int
    kind: ClassVar[str] = "chain"
    label = kind

    def __post_init__(self) -> None:
        checked_depth(self.depth)

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        leaf, laws = context, []
        for _ in range(self.depth):
            laws.append(proposal[leaf])
            leaf = (*leaf, oracle.choose(laws[-1]))
        return Draft(chained(leaf, laws))

    def outcomes(self, support: int) -> int:
        return support**self.depth

    def smaller(self) -> "Iterator[Chain]":
        if self.depth > 1:
            yield Chain(self.depth - 1)


SCHEME = Chain
