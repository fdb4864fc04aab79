"""The greedy multi-draft of Hu et al.: the top n-1 tokens and one sample from the others."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.shape import Shaped, grow, inner
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row, has_mass, likeliest, without
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class Greedy(Shaped):
    """At a node with n children: T = the n-1 likeliest tokens of q, and x ~ norm(q off T)
    (hu2025towards, Section 5). The sampled child comes first; if q has no mass outside T, there is no
    sampled child.
    """

    kind: ClassVar[str] = "greedy"
    label = kind

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        return Draft(grow(oracle, proposal, context, self.shape, top_and_sample), greedy=True)

    def outcomes(self, support: int) -> int:
        return prod(max(support - children + 1, 1) for children in inner(self.shape))


def top_and_sample(oracle: Oracle, q: Row, count: int) -> list[int]:
    """One token sampled from all but the `count - 1` likeliest tokens of q, then these likeliest tokens."""
    top = likeliest(q, count - 1)
    rest = without(q, *top)
    return [oracle.choose(rest), *top] if has_mass(rest) else top


SCHEME = Greedy
