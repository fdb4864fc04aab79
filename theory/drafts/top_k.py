"""A deterministic tree: the likeliest tokens of every drafted context."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from theory.draft import Draft
from theory.drafts.shape import Shape, checked_shape, grow, measure, smaller_shapes
from theory.oracle import Oracle
from theory.rows import Prefix, Row, descending
from theory.table import Rows


@dataclass(frozen=True)
class TopK:
    """The drafts of EAGLE-2, EAGLE-3 and Medusa (li2024eagle2): each node's likeliest tokens,
    ties by id. Nothing is drawn, so each child's law is one-hot and only rules that do not use
    the ratio p/q are valid; tokens of probability zero are not drafted.
    """

    shape: Shape
    kind: ClassVar[str] = "top-k"

    @property
    def label(self) -> str:
        return self.kind

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", checked_shape(self.shape))

    @property
    def depth(self) -> int:
        return measure(self.shape)

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        return Draft(grow(oracle, proposal, context, self.shape, likeliest))

    def outcomes(self, support: int) -> int:
        return 1

    def smaller(self) -> "Iterator[TopK]":
        return map(TopK, smaller_shapes(self.shape))


def likeliest(oracle: Oracle, q: Row, count: int) -> list[int]:
    """The `count` likeliest tokens of q, largest first, ties by id, none of probability zero."""
    return [x for x in descending(q)[:count] if q[x] > 0]


SCHEME = TopK
