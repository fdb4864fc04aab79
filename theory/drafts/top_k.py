"""A deterministic tree: the likeliest tokens of every drafted context."""

from dataclasses import dataclass
from typing import ClassVar

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.shape import Shaped, grow
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row, likeliest
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class TopK(Shaped):
    """The drafts of EAGLE-2, EAGLE-3 and Medusa (li2024eagle2): each node's likeliest tokens,
    ties by id. Nothing is drawn, so each child's law is one-hot and only rules that do not use
    the ratio p/q are valid; tokens of probability zero are not drafted.
    """

    kind: ClassVar[str] = "top-k"
    label = kind

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        return Draft(grow(oracle, proposal, context, self.shape, top))

    def outcomes(self, support: int) -> int:
        return 1


def top(oracle: Oracle, q: Row, count: int) -> list[int]:
    """The `count` likeliest tokens of q; the oracle is not used."""
    return likeliest(q, count)


SCHEME = TopK
