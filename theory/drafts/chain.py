"""One path: X_i ~ q(. | X^{i-1})."""

from dataclasses import dataclass
from typing import ClassVar

from draftproof.theory.draft import Draft, chained
from draftproof.theory.drafts.shape import Sized
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class Chain(Sized):
    """A chain of `depth` tokens (leviathan2023fast).

    >>> Chain(2).outcomes(support=3)
    9
    """

    depth: int
    kind: ClassVar[str] = "chain"
    label = kind

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        leaf, laws = context, []
        for _ in range(self.depth):
            laws.append(proposal[leaf])
            leaf = (*leaf, oracle.choose(laws[-1]))
        return Draft(chained(leaf, laws))

    def outcomes(self, support: int) -> int:
        return support**self.depth


SCHEME = Chain
