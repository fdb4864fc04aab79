"""Naive speculative sampling: draw from the target, and see whether it was drafted.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ())), 3), VERIFIER).expected_accepted
31/50
"""

from draftproof.theory.rows import point
from draftproof.theory.verifier import ALL, Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """y ~ p; descend if y was drafted, else Y = y. Never looks at q, hence valid on any tree."""
    node = draft.root
    while node.children:
        p = target[node.prefix]
        y = oracle.choose(p)
        child = node.child(y)
        if child is None:
            return node, point(y, p)
        node = child
    return node, target[node.prefix]


VERIFIER = Verifier(
    "nss",
    "miao2024specinfer, naive sampling",
    ALL,
    lossless=True,
    verify=verify,
    node_by_node=True,
    batched="gpu.verify.recursive:NSS",
    kernel="gpu.kernels.walk:walk",
)
