"""A run in lanes uses the memory of the run before, which the system does not take back between them."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.laws.exact_lanes import lanes
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.verifiers import named

if {broken}:
    lanes._keep_memory = lambda: None
some = Grid(Chain(2), 2, 12).lanes(10**6, 10**6 + 16384)
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    lanes.decide(some, named("block"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def pages(broken: bool) -> int:
    """How many pages of memory the third run asks the system for."""
    command = [sys.executable, "-c", PROGRAM.format(broken=broken)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="a setting of glibc's allocator")
def test_runs_share_their_memory():
    taken = pages(broken=True)
    if taken < 5_000:
        pytest.skip("this allocator keeps its memory by itself")
    assert pages(broken=False) < taken / 10
