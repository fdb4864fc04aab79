"""HSD as its paper writes it: hierarchical speculative decoding with the capped prefix ratio.

>>> from draftproof.simulators.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emission(scenario("toy", Chain(2)), VERIFIER).expected_accepted
11/9
"""

from itertools import accumulate, pairwise

from draftproof.theory.rows import Number, Row, excess, maximum, normalise, one, ratio, scale, share, total
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Path, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """R_t = prod p/q; r*_t = R_t / max(1, R_1 .. R_t); D*+_t = sum (r*_t p - q)+, D*-_t = sum (q - r*_t p)+.

    The full draft is kept with probability r*_gamma; else step back to the last t kept with
    D*+_t / D*-_t, and Y ~ norm((r*_t p - q)+). As r*_t = w_t and D*- = D*+ + 1 - r*, this is block
    verification, number for number.
    """
    path = draft.path
    rows = [target[node.prefix] for node in path]
    r = capped(prefix_ratios(path, rows))
    if oracle.accept(r[-1]):
        return path[-1], rows[-1]
    return step_back(oracle, path, rows, r)


def prefix_ratios(path: Path, rows: list[Row]) -> list[Number]:
    """R_0 = 1, R_1, .., R_gamma: the joint ratio of target to proposal along the path."""
    R = [one(rows[0])]
    for (node, child), p in zip(pairwise(path), rows, strict=False):
        R.append(R[-1] * ratio(p[child.token], node.proposal[child.token]))
    return R


def capped(R: list[Number]) -> list[Number]:
    """r*_t: every prefix ratio over the largest so far, at least 1."""
    return [ratio(R_t, peak) for R_t, peak in zip(R, accumulate(R, maximum), strict=True)]


def step_back(oracle: Oracle, path: Path, rows: list[Row], r: list[Number]) -> Stop:
    """From the end, the first inner node kept with probability D+ / D-, and its residual row.

    At the first node D+ = D-, so the walk never goes past it.
    """
    for node, p, r_t in reversed(list(zip(path[:-1], rows, r, strict=False))):
        residual = excess(scale(r_t, p), node.proposal)
        if oracle.accept(share(total(residual), total(excess(node.proposal, scale(r_t, p))))):
            break
    return node, normalise(residual)


VERIFIER = Verifier("hsd", "zhou2026hsd, Algorithm 2, Equations 19-20", CHAIN, lossless=True, verify=verify)
