"""HSD as released: the leaf is accepted with the uncapped joint ratio. Lossy.

>>> from draftproof.simulators.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.chain import Chain
>>> emitted = emission(scenario("toy", Chain(2)), VERIFIER)
>>> emitted.expected_accepted, emitted.total_variation
(4/3, 1/9)
"""

from draftproof.theory.rows import minimum, one
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.hsd import capped, prefix_ratios, step_back


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """As the paper's HSD, but the full draft is kept with min(1, R_gamma) instead of r*_gamma.

    A path whose ratio fell after a peak above 1 is then kept too often: on the toy, ba comes out
    3/9 of the time instead of 2/9.
    """
    path = draft.path
    rows = [target[node.prefix] for node in path]
    R = prefix_ratios(path, rows)
    if oracle.accept(minimum(R[-1], one(rows[0]))):
        return path[-1], rows[-1]
    return step_back(oracle, path, rows, capped(R))


VERIFIER = Verifier(
    "hsd-released", "zhou2026hsd, Listing 2 and repository", CHAIN, lossless=False, verify=verify
)
