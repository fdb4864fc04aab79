"""Recursive rejection without replacement: each sibling's law leaves out the earlier ones.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree((((),), ((),))), 3), VERIFIER).expected_accepted
32/25
"""

from draftproof.theory.rows import excess, normalise, share, without
from draftproof.theory.verifier import CHAIN, PATHS, Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """As with replacement, and after p was updated with the old q: q(x) <- 0, q <- norm(q).

    Lossless in drawing order only.
    """
    node, p = draft.root, target[draft.root.prefix]
    while node.children:
        q = node.proposal
        for child in node.children:
            if oracle.accept(share(p[child.token], q[child.token])):
                node, p = child, target[child.prefix]
                break
            p, q = normalise(excess(p, q)), without(q, child.token)
        else:
            return node, p
    return node, p


VERIFIER = Verifier(
    "rrs",
    "jeon2024recursive, Algorithm 1",
    (*CHAIN, *PATHS, "tree without replacement"),
    lossless=True,
    verify=verify,
    node_by_node=True,
    batched="gpu.verify.recursive:RRS",
    kernel="gpu.kernels.nodes:COINS",
)
