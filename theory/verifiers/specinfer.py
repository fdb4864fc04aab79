"""Recursive rejection with replacement: siblings are i.i.d. samples of the same q.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted
17/25
"""

from draftproof.theory.rows import excess, normalise, share
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept each child in turn with probability min(1, p/q); a rejection makes p <- norm((p - q)+).

    Descend on acceptance; with every child rejected Y ~ p.
    """
    node, p = draft.root, target[draft.root.prefix]
    while node.children:
        q = node.proposal
        for child in node.children:
            if oracle.accept(share(p[child.token], q[child.token])):
                node, p = child, target[child.prefix]
                break
            p = normalise(excess(p, q))
        else:
            return node, p
    return node, p


VERIFIER = Verifier(
    "specinfer",
    "miao2024specinfer, Algorithm 2",
    (*CHAIN, "tree with replacement"),
    lossless=True,
    verify=verify,
    node_by_node=True,
    batched="gpu.verify.recursive:SPECINFER",
    kernel="gpu.kernels.nodes:COINS",
)
