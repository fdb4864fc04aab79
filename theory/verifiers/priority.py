"""The priority rule, node by node: tokens that are drafted too seldom are judged first.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted
19/25
"""

from draftproof.theory.rows import normalise
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.shared.priority import planned


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Judge the children in the plan's order, each with its rate; descend on acceptance.

    None accepted: Y ~ norm(what the plan leaves of p).
    """
    node = draft.root
    while node.children:
        plan = planned(draft, node, target[node.prefix])
        for child, rate in plan.judged(node):
            if oracle.accept(rate):
                node = child
                break
        else:
            return node, normalise(plan.left)
    return node, target[node.prefix]


VERIFIER = Verifier(
    "priority",
    "draftproof, docs/near-optimal.md: the priority rule",
    (*CHAIN, "tree with replacement", "stratified"),
    lossless=True,
    verify=verify,
    ordered=True,
    node_by_node=True,
)
