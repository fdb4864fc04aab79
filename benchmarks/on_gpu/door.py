"""`draftproof gpu ...` without the packages that other commands need; with --small first, cut to seconds.

    python -m benchmarks.on_gpu.door [--small] verify --json
"""

import sys
from dataclasses import replace

from gpu.commands import gpu
from simulators.door import enter


def cut() -> None:
    """Eight families of the standard suite instead of all, and a training run of a few steps."""
    from gpu.exact import run
    from gpu.train.presets import PRESETS
    from simulators.instances.suite import standard

    families = [family for family in standard() if len(family)]
    smallest = sorted(families, key=len)[:8]
    run.standard = lambda: smallest
    PRESETS["tiny"] = replace(PRESETS["tiny"], megabytes=1, context=64, steps=(12, 8, 4))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--small"]:
        arguments = arguments[1:]
        cut()
    sys.exit(enter(gpu, arguments))
