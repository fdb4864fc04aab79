"""HSD as released: the leaf is accepted with the uncapped joint ratio. Lossy.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emitted = emission(scenario("toy", Chain(2)), VERIFIER)
>>> emitted.expected_accepted, emitted.total_variation
(4/3, 1/9)
"""

from itertools import pairwise

from draftproof.theory.rows import maximum, minimum, one, ratio
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.hsd import step_back


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """As the paper's HSD, but the full draft is kept with min(1, R_gamma) instead of r*_gamma.

    A path whose ratio fell after a peak above 1 is then kept too often: on the toy, ba comes out
    3/9 of the time instead of 2/9.
    """
    *inner, leaf = draft.path
    R = peak = one(target[leaf.prefix])
    r = []
    for node, child in pairwise(draft.path):
        r.append(ratio(R, peak))
        p, q, x = target[node.prefix], node.proposal, child.token
        R = R * ratio(p[x], q[x])
        peak = maximum(peak, R)

    if oracle.accept(minimum(R, one(target[leaf.prefix]))):
        return leaf, target[leaf.prefix]
    return step_back(oracle, inner, target, r)


VERIFIER = Verifier(
    "hsd-released", "zhou2026hsd, Listing 2 and repository", CHAIN, lossless=False, verify=verify
)
