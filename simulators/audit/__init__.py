"""An exact verdict on anybody's verifier: `audit.assert_lossless(verify)`.

The function's random calls are answered one way after another until every way was taken; the law
of what it emits is then compared with the target's. See docs/audit.md.
"""

from simulators.audit.battery import battery
from simulators.audit.report import Report
from simulators.audit.targets import Function
from simulators.audit.trees import Tree
from simulators.audit.verdict import assert_lossless, examine
from simulators.audit.world import NotEnumerable

__all__ = ["Function", "NotEnumerable", "Report", "Tree", "assert_lossless", "battery", "examine"]
