"""HSD over K paths as released: the prefix ratio is carried over a stop. Lossy.

>>> from draftproof.simulators.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.paths import Paths
>>> emitted = emission(scenario("toy", Paths(2, 2)), VERIFIER)
>>> emitted.expected_accepted, emitted.total_variation
(14/9, 4/27)
"""

from draftproof.theory.rows import minimum, one, otherwise
from draftproof.theory.verifier import CHAIN, PATHS, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.hsd import capped, prefix_ratios, step_back


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Two departures from the corrected rule: below a stop the ratio goes on from the joint ratio of
    the accepted prefix instead of 1, and a full path is kept with its uncapped suffix ratio.

    Where a carried ratio below 1 leaves no residual at all the released code divides by zero;
    here the row then stays as it was.
    """
    node, row = draft.root, target[draft.root.prefix]
    carried = one(row)
    for path in draft.paths:
        if node not in path:
            continue
        suffix = path[path.index(node) :]
        rows = [row, *(target[below.prefix] for below in suffix[1:])]
        R = prefix_ratios(suffix, rows)
        if oracle.accept(minimum(R[-1], one(row))):
            return suffix[-1], rows[-1]
        R = [carried * R_t for R_t in R]
        node, residual = step_back(oracle, suffix, rows, capped([one(row), *R])[1:])
        row = otherwise(residual, row)
        carried = R[suffix.index(node)]
    return node, row


VERIFIER = Verifier(
    "hsd-multidraft-released", "zhou2026hsd, repository", (*PATHS, *CHAIN), lossless=False, verify=verify
)
