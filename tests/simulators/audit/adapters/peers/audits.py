"""Audits kernels in a process whose Triton interprets: a target of studies/field and the folder of clones, in
turn.

    python -m tests.simulators.audit.adapters.peers.audits studies/field/sglang_chain.py:token FOLDER ...

Prints one JSON list of [exit status, total variation, what else was said]. Raises when Triton is
not left as it was found.
"""

import json
import os
import sys
from pathlib import Path

from draftproof.simulators import audit
from draftproof.simulators.audit import load
from draftproof.simulators.audit.battery import battery
from draftproof.theory.errors import BadInput

INSTANCES = [each for each in battery(3, 1) if each.name.startswith(("toy", "holes in both", "seesaw"))]
INSTANCES += [each for each in battery(2, 2) if each.name.startswith("toy") and each.draft.depth == 2]


def audited(name: str, path: Path) -> tuple[int, str, str]:
    try:
        os.environ["DRAFTPROOF_FIELD"] = str(path)
        target = load.target(name)
        report = audit.examine(target, instances=INSTANCES, edges=False, smallest=False)
    except BadInput as error:
        return 2, "", str(error)
    return report.status, str(report.to_dict()["total_variation"]), str(report)


def state() -> list[dict[str, object]]:
    """What the patches touch."""
    import triton.language as tl
    from triton.runtime import interpreter

    places = (interpreter, interpreter.InterpreterBuilder, interpreter.ReduceScanOpInterface)
    return [dict(vars(place)) for place in (*places, interpreter.GridExecutor, tl, tl.core, tl.tensor)]


if __name__ == "__main__":
    before = state()
    pairs = zip(sys.argv[1::2], sys.argv[2::2], strict=True)
    print(json.dumps([audited(name, Path(path)) for name, path in pairs]))
    touched = {
        name
        for was, now in zip(before, state(), strict=True)
        for name in now
        if now[name] is not was.get(name)
    }
    touched -= {"__annotations__", "__warningregistry__"}  # made by Python on first use
    touched -= {"__repr__"}  # inherited, and set again by name
    assert not touched, f"Triton is left changed: {touched}"
