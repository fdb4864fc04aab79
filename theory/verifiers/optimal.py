"""The optimum of every node, from the root down: no rule for independent siblings accepts more at a node.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted
19/25
"""

from draftproof.theory.rows import normalise, one, share
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.lifted_priority import Planned
from draftproof.theory.verifiers.shared.optimal import planned


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The descent by the plan that keeps most at every node."""
    return descend(oracle, draft, target, planned)


def descend(oracle: Oracle, draft: Draft, target: Rows, rule: Planned) -> Stop:
    """One child at most is kept, each with its share: descend to it.

    None kept: Y ~ norm(what the plan leaves of p). `rule` makes the plan of a node.
    """
    node = draft.root
    while node.children:
        p = target[node.prefix]
        plan, left = rule(draft, node, p), one(p)
        for child, w in plan.shares(node):
            if oracle.accept(share(w, left)):
                node = child
                break
            left = left - w
        else:
            return node, normalise(plan.left)
    return node, target[node.prefix]


VERIFIER = Verifier(
    "optimal",
    "draftproof, docs/near-optimal.md: the optimum of a node",
    (*CHAIN, "tree with replacement", "stratified", "greedy"),
    lossless=True,
    verify=verify,
    ordered=True,
    node_by_node=True,
    batched="gpu.verify.optimal:OPTIMAL",
    kernel="gpu.kernels.nodes:CELLS",
)
