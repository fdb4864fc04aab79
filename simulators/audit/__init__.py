"""An exact verdict on anybody's verifier: `audit.assert_lossless(verify)`.

The function runs once for every possible sequence of outcomes of its random calls. The exact law of its
output is then compared with the target's. See docs/audit.md.
"""

from draftproof.simulators.audit.battery import battery
from draftproof.simulators.audit.functions import Function, Tree
from draftproof.simulators.audit.judge.examine import assert_lossless, examine
from draftproof.simulators.audit.judge.report import Report
from draftproof.simulators.audit.loops import Loop
from draftproof.simulators.audit.randomness.coin_state import NotEnumerable
from draftproof.simulators.audit.selection import Selection

__all__ = [
    "Function",
    "Loop",
    "NotEnumerable",
    "Report",
    "Selection",
    "Tree",
    "assert_lossless",
    "battery",
    "examine",
]
