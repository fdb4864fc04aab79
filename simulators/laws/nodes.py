"""E[tau] of rules that go down node by node: each node's children are drawn and judged by themselves.

    E(v) = sum over the children x that can be accepted of Pr(x accepted) (1 + E(x)),

every probability from a run of the verifier on one node. Far fewer runs than those of whole drafts.
"""

from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from draftproof.simulators.laws.enumerate import iteration
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import Shaped
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS


def applies(instance: Instance, verifier: Verifier) -> bool:
    """Whether `expected_accepted` is for the verifier, one of this project's, on the instance's draft."""
    known = verifier.node_by_node and VERIFIERS.get(verifier.name) == verifier
    return known and isinstance(instance.draft, Chain | Paths | SpecHub | Shaped)


def expected_accepted(instance: Instance, verifier: Verifier) -> fmpq:
    """E[tau] of one iteration, exact: as `enumerate.emission`, without drawing whole drafts."""

    def mean(prefix: Prefix, scheme: Scheme) -> fmpq:
        accepted: dict[tuple[Prefix, Scheme | None], fmpq] = {}
        level: Any = OneLevel(scheme)
        for weight, draft, node, _ in iteration(
            level, instance.proposal, verifier, instance.target, context=prefix, start=ONE
        ):
            if node is not draft.root:
                key = node.prefix, level.below(draft, node)
                accepted[key] = accepted.get(key, ZERO) + weight
        below = {key: mean(*key) if key[1] else ZERO for key in accepted}  # type: ignore[arg-type]
        return sum((mass * (1 + below[key]) for key, mass in accepted.items()), ZERO)

    return mean((), instance.draft)


@dataclass(frozen=True)
class OneLevel:
    """A scheme's first level: the children of a tree keep the shapes that the whole tree has below them."""

    scheme: Any
    depth = 1

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        if not isinstance(self.scheme, Shaped):
            return replace(self.scheme, depth=1).draw(oracle, proposal, context)
        shape = self.scheme.shape
        flat: Any = replace(self.scheme, shape=((),) * len(shape))
        draft = flat.draw(oracle, proposal, context)
        draft.root.shape = shape
        for child, below in zip(draft.root.children, shape, strict=False):
            child.shape = below
        return draft

    def below(self, draft: Draft, child: Node) -> Scheme | None:
        """The scheme of the subtree of a child, None if it is a leaf."""
        if isinstance(self.scheme, Shaped):
            return replace(self.scheme, shape=child.shape) if child.shape else None  # type: ignore[return-value]
        if self.scheme.depth == 1:
            return None
        through = sum(path[1] is child for path in draft.paths)
        more = {"count": through} if isinstance(self.scheme, Paths) else {}
        return replace(self.scheme, depth=self.scheme.depth - 1, **more)
