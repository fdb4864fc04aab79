"""Greedy block verification: uncapped ratios, and a modified target for the tokens that follow.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emission(scenario("toy", Chain(2)), VERIFIER).expected_accepted
4/3
"""

from itertools import pairwise

from draftproof.theory.rows import excess, normalise, one, scale, share, total
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.shared.modified_target import carry


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """With P_i, Q_i the joint target and proposal probabilities of X^i (P_i / Q_i = R_i):

    D+_i = sum (P_i p - Q_i q)+;  D-_i = sum (Q_i q - P_i p)+;  h_i = min(1, D+_i / D-_i),
    h_gamma = min(1, R_gamma);  Y ~ norm((P_tau p - Q_tau q)+) below the leaf.
    Lossless only together with `carry`: the next gamma - tau - 1 tokens have a modified target.
    """
    *inner, leaf = draft.path
    P, Q = [one(target[leaf.prefix])], [one(target[leaf.prefix])]
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        P.append(P[-1] * p[x])
        Q.append(Q[-1] * q[x])

    if oracle.accept(share(P.pop(), Q.pop())):
        return leaf, target[leaf.prefix]
    for node, P_i, Q_i in zip(reversed(inner), reversed(P), reversed(Q), strict=True):
        have, want = scale(Q_i, node.proposal), scale(P_i, target[node.prefix])
        residual = excess(want, have)
        if oracle.accept(share(total(residual), total(excess(have, want)))):
            break
    return node, normalise(residual)


VERIFIER = Verifier(
    "greedy-block",
    "sun2025block, greedy block verification (appendix)",
    CHAIN,
    lossless=True,
    verify=verify,
    carry=carry,
)
