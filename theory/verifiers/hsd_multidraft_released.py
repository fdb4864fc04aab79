"""HSD over K paths as released: the prefix ratio is carried over a stop. Lossy.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.paths import Paths
>>> emitted = emission(scenario("toy", Paths(2, 2)), VERIFIER)
>>> emitted.expected_accepted, emitted.total_variation
(14/9, 4/27)
"""

from itertools import pairwise

from draftproof.theory.rows import maximum, minimum, one, otherwise, ratio
from draftproof.theory.verifier import CHAIN, PATHS, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.hsd import step_back
from draftproof.theory.verifiers.shared.modified_target import Replaced


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
        *inner, leaf = path[path.index(node) :]
        rows = Replaced(target, {node.prefix: row})
        R, peak = one(row), maximum(one(row), carried)
        joint, r = [carried], []
        for above, child in pairwise([*inner, leaf]):
            r.append(ratio(carried * R, peak))
            R = R * ratio(rows[above.prefix][child.token], above.proposal[child.token])
            joint.append(carried * R)
            peak = maximum(peak, carried * R)
        if oracle.accept(minimum(R, one(row))):
            return leaf, rows[leaf.prefix]
        node, residual = step_back(oracle, inner, rows, r)
        row = otherwise(residual, row)
        carried = joint[inner.index(node)]
    return node, row


VERIFIER = Verifier(
    "hsd-multidraft-released", "zhou2026hsd, repository", (*PATHS, *CHAIN), lossless=False, verify=verify
)
