"""Block verification: the whole path is judged together, from its end.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emission(scenario("toy", Chain(2)), VERIFIER).expected_accepted
11/9
"""

from itertools import pairwise

from draftproof.theory.rows import Number, excess, normalise, one, scale, share, total
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """w_i = min(1, w_{i-1} p/q);  A_i = sum (w_i p - q)+;  h_i = A_i / (A_i + 1 - w_i), h_gamma = w_gamma.

    tau is the largest i accepted with probability h_i; Y ~ p after the whole path, else
    Y ~ norm((w_tau p - q)+). At the root w = 1, hence h = 1: the loop never runs past it.
    """
    *inner, leaf = draft.path
    w = [one(target[leaf.prefix])]
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        w.append(share(w[-1] * p[x], q[x]))

    if oracle.accept(w.pop()):
        return leaf, target[leaf.prefix]
    return rejected(oracle, inner, w, target)


def rejected(oracle: Oracle, inner: list[Node], w: list[Number], target: Rows) -> Stop:
    """The stop once the whole path was rejected: tau and the row of Y, from the last inner node up."""
    for node, w_i in zip(reversed(inner), reversed(w), strict=True):
        residual = excess(scale(w_i, target[node.prefix]), node.proposal)
        A = total(residual)
        if oracle.accept(share(A, A + (1 - w_i))):
            break
    return node, normalise(residual)


VERIFIER = Verifier(
    "block",
    "sun2025block, Algorithm 2",
    CHAIN,
    lossless=True,
    verify=verify,
    batched="gpu.verify.chains:BLOCK",
    kernel="gpu.kernels.nodes:RATES",
)
