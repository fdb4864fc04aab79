"""The kernels compile for a GPU that is not there, and keep what they compute with in registers."""

import json
import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="the kernels need Triton")

from tests.gpu.kernels import hopper

FEW = 16
"""Bytes of stack a thread: what the sweep of 64 nodes keeps there, outside the loop over the vocabulary."""


@pytest.mark.slow
@pytest.mark.skipif(not hopper.TOOL.exists(), reason="this Triton does not carry cuobjdump")
def test_no_kernel_spills_more_than_scalars_on_compute_capability_9():
    settings = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_DEFAULT_FP_FUSION": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.gpu.kernels.hopper"], capture_output=True, text=True, env=settings
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"chunk_statistics", "opening", "sweep", "walk", "draw"}
    for kernel, lines in found.items():
        assert all("LOCAL:0 " in line for line in lines), (kernel, lines)
        stacks = [int(size) for line in lines for size in re.findall(r"STACK:(\d+)", line)]
        assert len(stacks) == len(lines)
        assert max(stacks) <= (FEW if kernel == "sweep" else 0), (kernel, lines)
