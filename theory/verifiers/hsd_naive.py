"""Naive HSD: the uncapped prefix ratio, lossless only with the modified target it leaves behind.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emission(scenario("toy", Chain(2)), VERIFIER).expected_accepted
4/3
"""

from itertools import pairwise

from draftproof.theory.rows import minimum, one, ratio
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.hsd import step_back
from draftproof.theory.verifiers.shared.modified_target import carry


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """D+_t = sum (R_t p - q)+, D-_t = sum (q - R_t p)+; keep t with D+_t / max(D+_t, D-_t).

    The full draft is kept with min(1, R_gamma). The excess that a step back leaves further down
    is resampled by the next iterations, level by level: greedy block verification.
    """
    *inner, leaf = draft.path
    R = [one(target[leaf.prefix])]
    for node, child in pairwise(draft.path):
        p, q, x = target[node.prefix], node.proposal, child.token
        R.append(R[-1] * ratio(p[x], q[x]))

    if oracle.accept(minimum(R.pop(), one(target[leaf.prefix]))):
        return leaf, target[leaf.prefix]
    return step_back(oracle, inner, target, R)


VERIFIER = Verifier("hsd-naive", "zhou2026hsd, Algorithm 1", CHAIN, lossless=True, verify=verify, carry=carry)
