"""The one-hot rule of EAGLE-2 and EAGLE-3: every drafted child is a proposal with q(x) = 1.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ())), 3), VERIFIER).expected_accepted
31/50
"""

from draftproof.theory.rows import without
from draftproof.theory.verifier import ALL, Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept a child with probability p(x), else p(x) <- 0 and p <- norm(p).

    The token that comes out of a node follows p whatever was drafted there, so the rule is
    lossless on deterministic trees and, at the price of E[tau], on sampled ones too.
    """
    node, p = draft.root, target[draft.root.prefix]
    while node.children:
        for child in node.children:
            if oracle.accept(p[child.token]):
                node, p = child, target[child.prefix]
                break
            p = without(p, child.token)
        else:
            return node, p
    return node, p


VERIFIER = Verifier(
    "one-hot",
    "li2024eagle2, evaluate_posterior",
    ALL,
    lossless=True,
    verify=verify,
    node_by_node=True,
    batched="gpu.verify.recursive:ONE_HOT",
    kernel="gpu.kernels.walk:walk",
)
