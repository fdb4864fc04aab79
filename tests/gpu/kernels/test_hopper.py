"""The kernels compile for a GPU that is not there, and keep what they compute with in registers."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="the kernels need Triton")

from benchmarks.kernel_code import disassembler
from draftproof.theory.errors import BadInput

FEW = 16
"""Bytes of stack a thread: scalars that some releases of Triton keep outside of what reads the vocabulary."""


FEW_LOGITS = ("walk", "find_limits", "kept_statistics")
"""Kernels that read few logits, one number or one span at a time."""


CELLS = {"masses": 200, "residual_row": 160}
"""Kernels of the optimum, which read logits by the way, and the most registers that each may take."""


@pytest.fixture
def codes():
    try:
        disassembler()
    except BadInput as error:
        pytest.skip(str(error))
    settings = {**os.environ, "TRITON_INTERPRET": "0", "TRITON_DEFAULT_FP_FUSION": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.gpu.kernels.hopper"], capture_output=True, text=True, env=settings
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {code["kernel"] for code in found} == {
        *("find_limits", "kept_statistics", "philox_numbers"),
        *("chunk_statistics", "opening", "sweep", "walk", "draw"),
        *CELLS,
    }
    return found


def no_kernel_spills_more_than_scalars(codes):
    for code in codes:
        assert code["spills"] == 0, code
        assert code["stack"] <= FEW, code


def kernels_of_the_optimum_leave_room_for_others(codes):
    for code in codes:
        assert code["registers"] < CELLS.get(code["kernel"], 256), code


def logits_are_read_16_bytes_at_a_time_and_each_takes_one_power(codes):
    reading = [code for code in codes if code["powers"] and code["kernel"] not in (*FEW_LOGITS, *CELLS)]
    reading = [code for code in reading if "optimal" not in code["name"]]
    assert {code["kernel"] for code in reading} == {"chunk_statistics", "sweep", "draw"}
    for code in reading:
        loads = {int(bits): count for bits, count in code["loads"].items()}
        if code["V"] % 8 == 0:
            assert 16 not in loads, code
            read = loads[128] * (8 if code["half"] else 4)
        else:  # rows that begin anywhere
            read = loads[16]
        assert code["powers"] == read, code


@pytest.mark.slow
def test_the_kernels_on_compute_capability_9(codes):
    """One test, so that one worker compiles them."""
    no_kernel_spills_more_than_scalars(codes)
    kernels_of_the_optimum_leave_room_for_others(codes)
    logits_are_read_16_bytes_at_a_time_and_each_takes_one_power(codes)


@pytest.mark.long
@pytest.mark.slow
def test_the_table_is_printed():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kernel_code", "--vocab", "4096"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("chunk_statistics") == 5


def test_a_vocabulary_of_nothing_is_refused_in_one_line():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kernel_code", "--vocab", "0"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "--vocab and --clock must be positive" in done.stderr
