"""The greedy multi-draft of Hu et al.: the top n-1 tokens and one sample from the others."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from theory.draft import Draft
from theory.drafts.shape import Shape, checked_shape, grow, inner, measure, smaller_shapes
from theory.drafts.top_k import likeliest
from theory.oracle import Oracle
from theory.rows import Prefix, Row, has_mass, without
from theory.table import Rows


@dataclass(frozen=True)
class Greedy:
    """At a node with n children: T = the n-1 likeliest tokens of q, and x ~ norm(q off T)
    (hu2025towards, Section 5). The sampled child stands first; where q has nothing off T there
    is none.
    """

    shape: Shape
    kind: ClassVar[str] = "greedy"

    @property
    def label(self) -> str:
        return self.kind

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", checked_shape(self.shape))

    @property
    def depth(self) -> int:
        return measure(self.shape)

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        return Draft(grow(oracle, proposal, context, self.shape, top_and_sample))

    def outcomes(self, support: int) -> int:
        return prod(max(support - children + 1, 1) for children in inner(self.shape))

    def smaller(self) -> "Iterator[Greedy]":
        return map(Greedy, smaller_shapes(self.shape))


def top_and_sample(oracle: Oracle, q: Row, count: int) -> list[int]:
    """One token sampled from q off its `count - 1` likeliest, then those."""
    top = likeliest(oracle, q, count - 1)
    rest = q
    for x in top:
        rest = without(rest, x)
    return [oracle.choose(rest), *top] if has_mass(rest) else top


SCHEME = Greedy
