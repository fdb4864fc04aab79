"""The machine of a stage, probed in a separate process, since a broken driver may crash it or hang."""

import json
import platform
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
"""The folder in which all commands run."""

PACKAGES = (
    *("numpy", "python-flint", "scipy", "click", "rich", "tokenizers", "torch", "transformers", "triton"),
    *("pot", "z3-solver", "pytest", "hypothesis", "flashinfer-python", "sglang", "vllm"),
)
LIMIT = 120


def probed() -> dict[str, Any]:
    """The answer of `found`; if its process fails, an answer without a GPU and with the error."""
    try:
        command = [sys.executable, "-m", "benchmarks.on_gpu.machine"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, cwd=ROOT)
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        error = f"torch did not answer within {LIMIT} s"
    except ValueError:
        error = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    return {"gpu": False, "name": "unknown", "error": error, "versions": _versions()}


def found() -> dict[str, Any]:
    """Device, versions and commit; "gpu" is whether torch computes on one."""
    import torch

    made: dict[str, Any] = {"gpu": False, "name": f"CPU, {torch.get_num_threads()} threads"}
    if torch.cuda.is_available():
        assert (torch.ones(8, device="cuda") * 2).sum().item() == 16
        about = torch.cuda.get_device_properties(0)
        made = {
            "gpu": True,
            "name": torch.cuda.get_device_name(0),
            "memory": about.total_memory,
            "processors": about.multi_processor_count,
            "L2": about.L2_cache_size,
            "capability": f"{about.major}.{about.minor}",
            "cuda": torch.version.cuda,
        }
    return made | {"versions": _versions(), "commit": _commit()}


def _versions() -> dict[str, str]:
    here = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            here[name] = version(name)
        except PackageNotFoundError:
            here[name] = "missing"
    return here


def _commit() -> str | None:
    try:
        command = ["git", "rev-parse", "--short=12", "HEAD"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    except OSError:
        return None
    return done.stdout.strip() or None


if __name__ == "__main__":
    print(json.dumps(found()))
