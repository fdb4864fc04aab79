"""HSD over K paths, corrected: each later path is a fresh block below the accepted prefix."""

from theory.draft import Draft
from theory.oracle import Oracle
from theory.table import Rows
from theory.verifier import CHAIN, PATHS, Stop, Verifier
from theory.verifiers.hsd import capped, prefix_ratios, step_back


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Paths in turn. One that shares the accepted prefix is verified on its suffix, against the last
    residual at the suffix's first node and with the prefix ratio restarted at 1.
    """
    node, row = draft.root, target[draft.root.prefix]
    depth = len(draft.paths[0]) - 1
    tau = 0
    for path in draft.paths:
        if tau == depth or path[tau] is not node:
            continue
        suffix = path[tau:]
        rows = [row, *(target[below.prefix] for below in suffix[1:])]
        r = capped(prefix_ratios(suffix, rows))
        if oracle.accept(r[-1]):
            return suffix[-1], rows[-1]
        node, row = step_back(oracle, suffix, rows, r)
        tau = path.index(node)
    return node, row


VERIFIER = Verifier(
    "hsd-multidraft", "zhou2026hsd, multi-draft, corrected", (*PATHS, *CHAIN), lossless=True, verify=verify
)
