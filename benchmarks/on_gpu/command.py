"""Runs `draftproof gpu ...` without the packages that other commands need; --small cuts it to seconds.

python -m benchmarks.on_gpu.command [--small] verify --json
"""

import sys
from dataclasses import replace

from draftproof.gpu.commands import gpu
from draftproof.simulators.commands.entry import enter


def cut() -> None:
    """Two families of the standard suite and two rules' kernels instead of all, a few steps of training."""
    from draftproof.gpu import kernels
    from draftproof.gpu.checks.against_exact import large, run
    from draftproof.gpu.train.recipe import PRESETS
    from draftproof.simulators.instances.suite import standard

    families = sorted((family for family in standard() if len(family)), key=len)
    run.standard = lambda: families[:2]
    kernels.NAMES = ("block", "traversal")
    large.KINDS = ("random",)
    PRESETS["tiny"] = replace(PRESETS["tiny"], megabytes=1, context=64, steps=(6, 4, 2, 2))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--small"]:
        arguments = arguments[1:]
        cut()
    sys.exit(enter(gpu, arguments))
