"""A tree whose siblings are drawn in stages: strata in a stage, without replacement between stages."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.shape import Shape, Shaped, inner
from draftproof.theory.drafts.stratified import from_strata
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, without
from draftproof.theory.strata import stages
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
        def grown(prefix: Prefix, shape: Shape) -> Node:
            if not shape:
                return Node(prefix, None)
            q = left = proposal[prefix]
            tokens: list[int] = []
            for count in stages(shape):
                tokens += from_strata(oracle, left, count)
                left = without(q, *tokens)
            below = zip(tokens, shape, strict=False)
            return Node(prefix, q, tuple(grown((*prefix, x), each) for x, each in below), shape)

        return Draft(grown(context, self.shape), stratified=True)

    def outcomes(self, support: int) -> int:
        return prod(support**children for children in inner(self.shape))


SCHEME = Stages
