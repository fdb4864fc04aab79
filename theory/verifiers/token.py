"""Token verification: each drafted token on its own, from the first on.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emission(scenario("toy", Chain(2)), VERIFIER).expected_accepted
10/9
"""

from itertools import pairwise

from draftproof.theory.rows import excess, normalise, share
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept X_i with probability min(1, p/q); at the first rejection Y ~ norm((p - q)+)."""
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        if not oracle.accept(share(p[x], q[x])):
            return node, normalise(excess(p, q))
    leaf = draft.path[-1]
    return leaf, target[leaf.prefix]


VERIFIER = Verifier(
    "token",
    "leviathan2023fast, Algorithm 1",
    CHAIN,
    lossless=True,
    verify=verify,
    node_by_node=True,
    batched="gpu.verify.chains:TOKEN",
    kernel="gpu.kernels.nodes:COINS",
)
