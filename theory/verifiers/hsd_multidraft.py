"""HSD over K paths, corrected: each later path is a fresh block below the accepted prefix.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.paths import Paths
>>> emission(scenario("toy", Paths(2, 2)), VERIFIER).expected_accepted
115/81
"""

from draftproof.theory.verifier import CHAIN, PATHS, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers import hsd
from draftproof.theory.verifiers.shared.modified_target import Replaced


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Paths in turn. One that shares the accepted prefix is verified on its suffix, against the last
    residual at the suffix's first node and with the prefix ratio restarted at 1.
    """
    node, row = draft.root, target[draft.root.prefix]
    for path in draft.paths:
        if node in path[:-1]:
            suffix = path[path.index(node) :]
            node, row = hsd.judge(oracle, suffix, Replaced(target, {node.prefix: row}))
    return node, row


VERIFIER = Verifier(
    "hsd-multidraft", "zhou2026hsd, multi-draft, corrected", (*PATHS, *CHAIN), lossless=True, verify=verify
)
