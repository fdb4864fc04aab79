"""The tuning of the kernels' sizes runs to its end without a GPU, and says that no time counts."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("triton", reason="the kernels need Triton")


@pytest.mark.slow
def test_every_size_is_tried():
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.on_gpu.kernel_tuning", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    first, *others = found[0]["times"]
    assert all(0 < each["microseconds"] < float("inf") for each in (first, *others))
    tried = {key for each in others for key, value in each["sizes"].items() if value != first["sizes"][key]}
    assert tried == set(first["sizes"]) - {"many"}
    if not found[0]["kernels"]:
        assert "no GPU" in done.stderr
