"""The grid, measured point by point, so that what is finished is never lost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import torch

from gpu.kernel_bench import timing
from gpu.kernel_bench.case import Case, make
from gpu.kernel_bench.methods import Call, Maker, methods
from theory.errors import BadInput


@dataclass(frozen=True)
class Grid:
    """What is varied."""

    vocab: tuple[int, ...]
    gamma: tuple[int, ...]
    batch: tuple[int, ...]
    drafts: tuple[str, ...] = ("chain", "tree")


FULL = Grid((32_768, 131_072, 262_144), (4, 8), (1, 8, 64, 256))
ON_CPU = Grid((4_096, 32_768), (4,), (1, 4))
"""Without a GPU: smaller, and plain torch and transformers only."""


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


def device_of(name: str | None) -> torch.device:
    """The device of that name, or the GPU where there is one."""
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise BadInput(f"--device {name}: {str(error).splitlines()[0][:120]}") from None
    return device


def run(grid: Grid, device: torch.device, bandwidth: float) -> Iterator[Point]:
    """Every method on every case, bfloat16 logits on a GPU and float32 elsewhere.

    `floor_share` is the time to read each logit once at the copy bandwidth, over the time taken; `ratio`
    the time over that of the case's first method.
    """
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    for draft, gamma, V, B in product(grid.drafts, grid.gamma, grid.vocab, grid.batch):
        case = make(draft, gamma, V, B, device, dtype)
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
        seconds, note = _on_gpu(call, device, case.B == 1) if call else (None, note)
        yield name, seconds, note


def _ready(case: Case, maker: Maker) -> tuple[Call | None, str]:
    try:
        call = maker(case)
        call()
    except ImportError as error:
        return None, f"not installed: {error}"
    except torch.OutOfMemoryError:
        return None, "out of memory"
    except (RuntimeError, TypeError, AttributeError) as error:
        return None, f"did not run: {str(error).splitlines()[0]}"
    return call, ""


def _on_gpu(call: Call, device: torch.device, graph: bool) -> tuple[float, str]:
    if graph:
        try:
            return timing.on_gpu(call, device, graph=True), "graph"
        except RuntimeError:  # it reads something back, which cannot be captured
            torch.cuda.synchronize(device)
    return timing.on_gpu(call, device), ""


def shorter(grid: Grid, **given: Sequence) -> Grid:
    """The grid with what was asked for in place of its own."""
    return Grid(**{**vars(grid), **{key: tuple(value) for key, value in given.items() if value}})
