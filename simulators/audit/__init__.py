"""An exact verdict on anybody's verifier: `audit.assert_lossless(verify)`.

The function runs once for every possible sequence of outcomes of its random calls. The exact law of its
output is then compared with the target's. See docs/audit.md.

Come here if the audit of foreign code is wrong, and go on to `targets` (how a function is called), `coins`
and `stand_ins` (how its random numbers are followed) or `judge` (how runs become a verdict). `load` finds
the target that a name stands for; `sandbox` runs one call and notices what it does, `isolation` a whole audit
in a process of its own; `battery` has the instances, `rounding` bounds what rounding may cause; `enumerated`
makes a foreign function a verifier of this project.
"""

from draftproof.simulators.audit.battery import battery
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.judge.examine import assert_lossless, examine
from draftproof.simulators.audit.judge.report import Report
from draftproof.simulators.audit.targets.batches import Selection
from draftproof.simulators.audit.targets.functions import Function
from draftproof.simulators.audit.targets.loops import Loop
from draftproof.simulators.audit.targets.trees import Tree

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
