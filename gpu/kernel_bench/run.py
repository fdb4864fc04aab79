"""The grid, measured point by point, so that what is finished is never lost."""

import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import product

import torch

from draftproof.gpu.device import out_of_memory
from draftproof.gpu.graphs import waits
from draftproof.gpu.kernel_bench import timing
from draftproof.gpu.kernel_bench.case import Case, make
from draftproof.gpu.kernel_bench.methods import Maker, methods
from draftproof.gpu.kernel_bench.peers import Call


@dataclass(frozen=True)
class Grid:
    """What is varied."""

    vocab: tuple[int, ...]
    gamma: tuple[int, ...]
    batch: tuple[int, ...]
    draft: tuple[str, ...] = ("chain", "tree")


FULL = Grid((32_768, 131_072, 262_144), (4, 8), (1, 8, 64, 256))
ON_CPU = Grid((4_096, 32_768), (4,), (1, 4))
"""Without a GPU: smaller, and plain torch and transformers only."""


WHOLE = "all"
"""The method of a point that stands for a case which could not be made."""


@dataclass(frozen=True)
class Point:
    """One method on one case. `seconds` is None where it could not run, and `note` says why."""

    draft: str
    gamma: int
    V: int
    B: int
    method: str
    seconds: float | None
    bytes: int
    floor_share: float | None
    ratio: float | None
    note: str = ""


def run(grid: Grid, device: torch.device, bandwidth: float) -> Iterator[Point]:
    """Every method on every case, bfloat16 logits on a GPU and float32 elsewhere.

    `floor_share` is the time to read each logit once at the copy bandwidth, over the time taken; `ratio`
    the time over that of the case's first method.
    """
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    for draft, gamma, V, B in product(grid.draft, grid.gamma, grid.vocab, grid.batch):
        try:
            case = make(draft, gamma, V, B, device, dtype)
        except (RuntimeError, MemoryError) as error:
            yield Point(draft, gamma, V, B, WHOLE, None, 0, None, None, _said(error))
            continue
        base = None
        for name, taken, note in _measured(case, device):
            base = base or taken
            share = taken and case.bytes / bandwidth / taken
            yield Point(
                draft, gamma, V, B, name, taken, case.bytes, share, taken and base and taken / base, note
            )


def _measured(case: Case, device: torch.device) -> Iterator[tuple[str, float | None, str]]:
    # (method, seconds, note): one after the other on a GPU, in turns elsewhere.
    ready = [(name, *_ready(case, maker)) for name, maker in methods(case, device)]
    if device.type != "cuda":
        least = iter(timing.on_cpu([call for _, call, _ in ready if call]))
        yield from ((name, next(least) if call else None, note) for name, call, note in ready)
        return
    for name, call, note in ready:
        seconds, note = _on_gpu(call, device) if call else (None, note)
        yield name, seconds, note


def _ready(case: Case, maker: Maker) -> tuple[Call | None, str]:
    # A peer may raise anything, and talk on standard output, which is for the answer.
    try:
        with redirect_stdout(sys.stderr):
            call = maker(case)
            call()
    except Exception as error:
        return None, _said(error)
    return call, ""


def _on_gpu(call: Call, device: torch.device) -> tuple[float | None, str]:
    note = ""
    for graph in (False,) if waits(call, device) else (True, False):
        try:
            return timing.on_gpu(call, device, graph), "" if graph else "no graph"
        except RuntimeError as error:
            note = _said(error)
    return None, note


def _said(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"not installed: {error}"
    if out_of_memory(error):
        return "out of memory"
    return f"did not run: {next(iter(str(error).splitlines()), '') or type(error).__name__}"
