"""Optimal transport, node by node: the drawn siblings are matched with the target at rate alpha*.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ())), 3), VERIFIER).expected_accepted
19/20
"""

from draftproof.theory.rows import share
from draftproof.theory.transport.single_step import optimal_rule
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Draft, Node, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """With S an optimal plan for the law of the drawn set t: child i with S(i, t) / Pr(t), else
    Y ~ norm(p - sum_t S(., t)), which gives no mass to a drafted token. Descend on acceptance.

    Siblings are i.i.d. or drawn without replacement; of merged paths, the paths through the node
    are its i.i.d. draws.
    """
    node = draft.root
    while node.children:
        tokens = draft.drawn(node)
        rule = optimal_rule(
            target[node.prefix], node.proposal, len(tokens), draft.replacement or draft.merged
        )
        drawn = frozenset(tokens)
        left = rule.draws[drawn]
        for x, mass in rule.plan[drawn].items():
            if oracle.accept(share(mass, left)):
                node = chosen(node, x)
                break
            left = left - mass
        else:
            return node, rule.residual
    return node, target[node.prefix]


def chosen(node: Node, token: int) -> Node:
    """The child that a plan chose; plans keep to the drawn tokens."""
    child = node.child(token)
    assert child is not None
    return child


VERIFIER = Verifier(
    "optimal-transport",
    "sun2023spectr, Section 3 (optimal transport with membership cost)",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    ordered=True,
    node_by_node=True,
)
