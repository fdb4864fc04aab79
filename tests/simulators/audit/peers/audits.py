"""Audits adapters of kernels, in a process whose Triton interprets: adapter and file in turn.

    python -m tests.simulators.audit.peers.audits sglang FILE lmdeploy FILE ...

Prints one JSON list of [exit status, total variation, what else was said].
"""

import json
import sys
from pathlib import Path

from simulators import audit
from simulators.audit.adapters import adapted
from simulators.audit.battery import battery
from theory.errors import BadInput

INSTANCES = [each for each in battery(3, 1) if each.name.startswith(("toy", "holes in both", "seesaw"))]


def audited(name: str, path: Path) -> tuple[int, str, str]:
    try:
        report = audit.examine(adapted(name, path), instances=INSTANCES, edges=False, smallest=False)
    except BadInput as error:
        return 2, "", str(error)
    return report.status, str(report.answer()["total_variation"]), str(report)


if __name__ == "__main__":
    pairs = zip(sys.argv[1::2], sys.argv[2::2], strict=True)
    print(json.dumps([audited(name, Path(path)) for name, path in pairs]))
