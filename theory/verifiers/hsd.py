"""HSD as its paper writes it: hierarchical speculative decoding with the capped prefix ratio.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emission(scenario("toy", Chain(2)), VERIFIER).expected_accepted
11/9
"""

from collections.abc import Sequence
from itertools import pairwise

from draftproof.theory.rows import Number, excess, maximum, normalise, one, ratio, scale, share, total
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Path, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """R_t = prod p/q; r*_t = R_t / max(1, R_1 .. R_t); D*+_t = sum (r*_t p - q)+, D*-_t = sum (q - r*_t p)+.

    The full draft is kept with probability r*_gamma; else step back to the last t kept with
    D*+_t / D*-_t, and Y ~ norm((r*_t p - q)+). As r*_t = w_t and D*- = D*+ + 1 - r*, this is block
    verification, number for number.
    """
    return judge(oracle, draft.path, target)


def judge(oracle: Oracle, path: Path, target: Rows) -> Stop:
    """One path, from whose first node on the ratios count."""
    *inner, leaf = path
    R = peak = one(target[leaf.prefix])
    r = [R]
    for node, child in pairwise(path):
        p, q, x = target[node.prefix], node.proposal, child.token
        R = R * ratio(p[x], q[x])
        peak = maximum(peak, R)
        r.append(ratio(R, peak))

    if oracle.accept(r.pop()):
        return leaf, target[leaf.prefix]
    return step_back(oracle, inner, target, r)


def step_back(oracle: Oracle, inner: Sequence[Node], target: Rows, r: list[Number]) -> Stop:
    """From the end, the first inner node kept with probability D+ / D-, and its residual row.

    At the first node D+ = D-, so the walk never goes past it.
    """
    for node, r_t in zip(reversed(inner), reversed(r), strict=True):
        have, want = node.proposal, scale(r_t, target[node.prefix])
        residual = excess(want, have)
        if oracle.accept(share(total(residual), total(excess(have, want)))):
            break
    return node, normalise(residual)


VERIFIER = Verifier("hsd", "zhou2026hsd, Algorithm 2, Equations 19-20", CHAIN, lossless=True, verify=verify)
