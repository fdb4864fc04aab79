"""An exact verdict on anybody's verifier: `audit.assert_lossless(verify)`.

The function's random calls are answered one way after another until every way was taken; the law
of what it emits is then compared with the target's. See docs/audit.md.
"""

from draftproof.simulators.audit.judge.battery import battery
from draftproof.simulators.audit.judge.report import Report
from draftproof.simulators.audit.judge.verdict import assert_lossless, examine
from draftproof.simulators.audit.randomness.world import NotEnumerable
from draftproof.simulators.audit.targets.loop import Loop
from draftproof.simulators.audit.targets.target import Function
from draftproof.simulators.audit.targets.trees import Tree

__all__ = ["Function", "Loop", "NotEnumerable", "Report", "Tree", "assert_lossless", "battery", "examine"]
