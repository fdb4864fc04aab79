"""Times the kernels with other divisions of the work, and each kernel separately: for a GPU.

    python -m benchmarks.on_gpu.kernel_tuning [--vocab 131072] [--gamma 8] [--json]

Starting from the sizes in `gpu/kernels/grid.py` (`SIZES`), one size is changed at a time; then the best
values are combined. Times are medians of graph replays with a cold cache (`benchmarks.verification`),
and for the fastest sizes the time of each kernel from torch's profiler. Without a GPU one tiny case runs in
Triton's interpreter, and no time counts. --json prints a document; Ctrl-C prints what was measured so far.
"""

import argparse
import json
import sys
from collections import defaultdict
from contextlib import redirect_stdout, suppress
from dataclasses import asdict, replace
from timeit import timeit
from typing import Any
from unittest import mock

import torch
from triton.errors import TritonError

from benchmarks import verification
from benchmarks.cases import Case, make
from draftproof.gpu.kernels import grid, verify
from draftproof.gpu.kernels.grid import SIZES, Sizes

CASES = (
    ("block", "chain", 64),
    ("traversal", "tree", 8),
    ("block", "chain", 1),
    ("token", "chain", 64),
    ("rrs", "tree", 8),
)
"""Verifier, draft and batch."""

OTHERS = {
    "chunk": (2048, 8192),
    "statistics": (1024, 4096),
    "sweep": (512, 2048),
    "draw": (256, 1024),
    "opening": (4, 16),
    "group": (1, 2, 8),
}
CALLS = 10
"""Number of profiled calls."""


def main() -> None:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--vocab", type=int, default=131072)
    parser.add_argument("--gamma", type=int, default=8)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    with suppress(KeyboardInterrupt), redirect_stdout(sys.stderr if given.json else sys.stdout):
        if torch.cuda.is_available():
            device = torch.device("cuda")
            for name, draft, B in CASES:
                case = make(draft, given.gamma, given.vocab, B, device, torch.bfloat16)
                found.append(tuned(name, case, device))
        else:
            print("no GPU: a tiny case in Triton's interpreter, no time counts")
            device = torch.device("cpu")
            found.append(tuned("block", make("chain", 2, 64, 1, device, torch.float32), device))
    if given.json:
        print(json.dumps(found))


def tuned(name: str, case: Case, device: torch.device) -> dict[str, Any]:
    """Microseconds for the default sizes, with one size changed, and with the best of each; and per
    kernel.
    """
    print(f"\n{name}, {case.draft}, B = {case.B}, gamma = {case.gamma}, V = {case.V:,}")
    times = {SIZES: timed(name, case, device, SIZES)}
    best = SIZES
    for field, others in OTHERS.items():
        tried = [SIZES, *(replace(SIZES, **{field: other}) for other in others)]
        times |= {sizes: timed(name, case, device, sizes) for sizes in tried[1:]}
        fastest = min(tried, key=times.__getitem__)
        best = replace(best, **{field: getattr(fastest, field)})
    times[best] = timed(name, case, device, best)
    for sizes, time in times.items():
        print(f"{changed(sizes):40}{time:10.1f} us{time / times[SIZES]:8.3f}")
    fastest = min(times, key=times.__getitem__)
    kernels = by_kernel(name, case, device, fastest)
    for kernel, time in kernels.items():
        print(f"  {kernel:38}{time:10.1f} us")
    made = [{"sizes": asdict(sizes), "microseconds": time} for sizes, time in times.items()]
    about = {"name": name, "draft": case.draft, "gamma": case.gamma, "V": case.V, "B": case.B}
    return about | {"times": made, "fastest": asdict(fastest), "kernels": kernels}


def changed(sizes: Sizes) -> str:
    """The differences from the default sizes."""
    chosen = asdict(SIZES)
    other = {key: value for key, value in asdict(sizes).items() if value != chosen[key]}
    return ", ".join(f"{key} {value}" for key, value in other.items()) or "as chosen"


def timed(name: str, case: Case, device: torch.device, sizes: Sizes) -> float:
    """Microseconds of a call; infinite if these sizes do not run."""
    with mock.patch.object(grid, "SIZES", sizes):
        try:
            if device.type == "cuda":
                return 1e6 * verification.on_gpu(lambda: call(name, case), device)
            return 1e6 * timeit(lambda: call(name, case), number=1)
        except (RuntimeError, TritonError) as error:
            print(f"{changed(sizes)}: {next(iter(str(error).splitlines()), '')}")
            return float("inf")


def by_kernel(name: str, case: Case, device: torch.device, sizes: Sizes) -> dict[str, float]:
    """Microseconds per call of each kernel, with a warm cache; empty without a GPU."""
    if device.type != "cuda":
        return {}
    seen = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
    with mock.patch.object(grid, "SIZES", sizes), seen:
        for _ in range(CALLS):
            call(name, case)
        torch.cuda.synchronize()
    taken: defaultdict[str, float] = defaultdict(float)
    for event in seen.events() or ():
        taken[event.name] += event.device_time / CALLS
    return dict(sorted(taken.items(), key=lambda each: -each[1])[:8])


def call(name: str, case: Case) -> object:
    """One verification."""
    return verify(name, case)


if __name__ == "__main__":
    main()
