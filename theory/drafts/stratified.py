"""A tree whose siblings are drawn from strata of q: likely tokens for certain, hardly any token twice."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.shape import Shaped, grow, inner
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.shared.strata import strata
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class Stratified(Shaped):
    """The j-th child is drawn from the j-th stratum of q, independently of its siblings
    (docs/near-optimal.md).

    Where q has fewer tokens than the shape has children, each is drafted once. In an uneven tree the
    deepest child should stand first.

    >>> Stratified(((), ())).outcomes(support=3)
    4
    """

    kind: ClassVar[str] = "stratified"
    label = kind

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        return Draft(grow(oracle, proposal, context, self.shape, from_strata), stratified=True)

    def outcomes(self, support: int) -> int:
        return prod(most(support, children) for children in inner(self.shape))


def from_strata(oracle: Oracle, q: Row, count: int) -> list[int]:
    """One token of each stratum."""
    return [oracle.choose(row) for row in strata(q, count)]


def most(support: int, children: int) -> int:
    """The largest product of the sizes of strata, of which neighbours may share a token."""
    if children >= support:
        return 1
    size, larger = divmod(support + children - 1, children)
    return (size + 1) ** larger * size ** (children - larger)


SCHEME = Stratified
