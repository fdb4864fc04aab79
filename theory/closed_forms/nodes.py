"""Closed forms of E[tau] for rules that go down node by node.

With a(x, j) the mass with which a node accepts token x as its j-th child (`rules`),

    E(v, shape) = sum over x, j of a(x, j) (1 + E(vx, shape_j)).
"""

from collections.abc import Callable
from operator import getitem

from flint import fmpq

from draftproof.theory.closed_forms.rules import ALIKE, RULES, Rule
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import Shape, chain, every
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO
from draftproof.theory.rows import Prefix


def by_nodes(
    rule: Rule, *, even: bool = False, below: Callable[[Shape, int], Shape] = getitem
) -> Callable[[Instance], fmpq]:
    """E[tau] of a node rule; `even` where it needs every node's subtrees to have one shape. `below` is what
    an accepted token has below it, by the rule's j.
    """

    def form(instance: Instance) -> fmpq:
        shape = shape_of(instance.draft)
        if even and not alike(shape):
            raise BadInput("no closed form of E[tau] where a node's subtrees differ in shape")

        def mean(prefix: Prefix, shape: Shape) -> fmpq:
            if not shape:
                return ZERO
            accepted: dict[tuple[int, Shape], fmpq] = {}
            for x, j, mass in rule(instance.target[prefix], instance.proposal[prefix], len(shape)):
                if mass > ZERO:
                    key = x, below(shape, j)
                    accepted[key] = accepted.get(key, ZERO) + mass
            return sum((mass * (1 + mean((*prefix, x), rest)) for (x, rest), mass in accepted.items()), ZERO)

        return mean((), shape)

    return form


def shape_of(draft: Scheme) -> Shape:
    """The shape that a draft asks for below its root."""
    if isinstance(draft, Chain):
        return chain(draft.depth)
    if isinstance(draft, Paths):
        return (chain(draft.depth - 1),) * draft.count
    return every(2, draft.depth) if isinstance(draft, SpecHub) else draft.shape  # type: ignore[attr-defined]


def alike(shape: Shape) -> bool:
    """Whether every node's subtrees have one shape."""
    return all(below == shape[0] for below in shape) and (not shape or alike(shape[0]))


FORMS = {
    **{key: by_nodes(rule) for key, rule in RULES.items()},
    **{key: by_nodes(rule, even=True) for key, rule in ALIKE.items()},
}
