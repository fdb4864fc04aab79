"""Runs `draftproof gpu ...` without the packages that other commands need; --small cuts it to seconds.

python -m benchmarks.on_gpu.command [--small] verify --json
"""

import sys

from draftproof.gpu.commands import gpu
from draftproof.simulators.commands.entry import enter


def cut() -> None:
    """Two families of the standard suite and two rules' kernels instead of all."""
    from draftproof.gpu import kernels
    from draftproof.gpu.checks.against_exact import large, run
    from draftproof.simulators.instances.suite import standard

    families = sorted((family for family in standard() if len(family)), key=len)
    run.standard = lambda: families[:2]
    kernels.NAMES = ("block", "traversal")
    large.KINDS = ("random",)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--small"]:
        arguments = arguments[1:]
        cut()
    sys.exit(enter(gpu, arguments))
