"""Sampling-match: the target samples at every position, and drafts count where they agree.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emission(scenario("toy", Chain(2)), VERIFIER).expected_accepted
52/81
"""

from draftproof.theory.rows import point
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """y_i ~ p(. | X^{i-1}) for every position at once; tau = length of the longest agreement.

    What is emitted is the target's own draws, so the law is exact, at the price of E[tau].
    """
    *inner, leaf = draft.path
    ys = [oracle.choose(target[node.prefix]) for node in inner]
    for node, child, y in zip(inner, draft.path[1:], ys, strict=True):
        if y != child.token:
            return node, point(y, target[node.prefix])
    return leaf, target[leaf.prefix]


VERIFIER = Verifier(
    "sampling-match",
    "kwon2023vllm, drafts without probabilities",
    CHAIN,
    lossless=True,
    verify=verify,
    node_by_node=True,
)
