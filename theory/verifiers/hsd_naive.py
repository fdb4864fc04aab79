"""Naive HSD: the uncapped prefix ratio, lossless only with the modified target it leaves behind.

>>> from draftproof.simulators.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emission(scenario("toy", Chain(2)), VERIFIER).expected_accepted
4/3
"""

from draftproof.theory.rows import minimum, one
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.greedy_block import carry
from draftproof.theory.verifiers.hsd import prefix_ratios, step_back


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """D+_t = sum (R_t p - q)+, D-_t = sum (q - R_t p)+; keep t with D+_t / max(D+_t, D-_t).

    The full draft is kept with min(1, R_gamma). The excess that a step back leaves further down
    is resampled by the next iterations, level by level: greedy block verification.
    """
    path = draft.path
    rows = [target[node.prefix] for node in path]
    R = prefix_ratios(path, rows)
    if oracle.accept(minimum(R[-1], one(rows[0]))):
        return path[-1], rows[-1]
    return step_back(oracle, path, rows, R)


VERIFIER = Verifier("hsd-naive", "zhou2026hsd, Algorithm 1", CHAIN, lossless=True, verify=verify, carry=carry)
