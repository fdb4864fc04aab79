"""A tree whose siblings are drawn in stages: strata in a stage, without replacement between stages."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from draftproof.theory.draft import Draft
from draftproof.theory.drafts.shape import Shaped, grow, inner
from draftproof.theory.drafts.stratified import from_strata
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class Stages(Shaped):
    """Neighbouring siblings whose subtrees have the same shape are a stage (docs/near-optimal.md).

    The first stage is drawn from the strata of q, each later stage from the strata of q without the tokens
    drawn before. So a chain is an ordinary draw, an even tree is `Stratified`, and a sibling with a subtree
    of its own is a draw without replacement. In an uneven tree the deepest child should stand first.

    >>> Stages((((),), (), ())).outcomes(support=2)
    16
    """

    kind: ClassVar[str] = "stages"
    label = kind

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        return Draft(grow(oracle, proposal, context, self.shape, from_strata, staged=True), stratified=True)

    def outcomes(self, support: int) -> int:
        return prod(support**children for children in inner(self.shape))


SCHEME = Stages
