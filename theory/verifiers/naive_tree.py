"""Token verification of the first child; its correction may land on another drafted child.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ())), 3), VERIFIER).expected_accepted
4/5
"""

from draftproof.theory.rows import excess, normalise, point, share
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept the first child with min(1, p/q), else y ~ norm((p - q)+); descend if y was drafted too.

    Only the first child's law matters, so siblings may be drawn in any way that leaves it q.
    """
    node = draft.root
    while node.children:
        p, q, x = target[node.prefix], node.proposal, node.children[0].token
        y = x if oracle.accept(share(p[x], q[x])) else oracle.choose(normalise(excess(p, q)))
        child = node.child(y)
        if child is None:
            return node, point(y, p)
        node = child
    return node, target[node.prefix]


VERIFIER = Verifier(
    "naive-tree",
    "thomas2026delayed, NaiveTree",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    node_by_node=True,
)
