"""The lift of an optimal single-step rule to trees, from leaf to root, child by child.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree((((),), ((),))), 3), VERIFIER).expected_accepted
79/50
"""

from dataclasses import dataclass

from draftproof.theory.rows import Number, Row, one
from draftproof.theory.transport.level import Plan, plan
from draftproof.theory.transport.siblings import law_below, siblings
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.layered import shared
from draftproof.theory.verifiers.lifted_priority import lifted


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The lift of the plan that gives the children most of a p, as `lifted-priority` is of its own plan."""
    return lifted(oracle, draft, target, planned)


@dataclass(frozen=True)
class Transported:
    """Optimal transport of a row to a node's children, and what it leaves of the row."""

    plan: Plan
    left: Row

    def shares(self, node: Node) -> list[tuple[Node, Number]]:
        """The drafted children that get mass, each with what it gets."""
        return list(shared(node, self.plan.given(siblings(node))))


def planned(draft: Draft, node: Node, t: Row) -> Transported:
    """The plan of a drafted node."""
    found = plan((t,), (law_below(draft, node),), one(t))
    return Transported(found, found.left[0])


VERIFIER = Verifier(
    "lifted",
    "draftproof, docs/findings.md: the lift of optimal transport, after weng2025traversal",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    ordered=True,
)
