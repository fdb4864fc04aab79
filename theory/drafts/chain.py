"""One path: X_i ~ q(. | X^{i-1})."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from theory.draft import Draft, Node
from theory.drafts.shape import checked_depth
from theory.oracle import Oracle
from theory.rows import Prefix
from theory.table import Rows


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
        prefix, above = context, []
        for _ in range(self.depth):
            q = proposal[prefix]
            above.append((prefix, q))
            prefix = (*prefix, oracle.choose(q))
        node = Node(prefix, None)
        for prefix, q in reversed(above):
            node = Node(prefix, q, (node,))
        return Draft(node)

    def outcomes(self, support: int) -> int:
        return support**self.depth

    def smaller(self) -> "Iterator[Chain]":
        if self.depth > 1:
            yield Chain(self.depth - 1)


SCHEME = Chain
