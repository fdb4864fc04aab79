"""Verification from logits over a grid of cases: measured point by point, as a table and JSON."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from itertools import product

import torch
from rich.table import Table

from draftproof.gpu.bench import timing
from draftproof.gpu.bench.cases import DRAFTS, Case, make
from draftproof.gpu.bench.methods import OURS, Call, Maker, methods
from draftproof.gpu.network.graphs import waits
from draftproof.gpu.sampling.device import out_of_memory
from draftproof.simulators import screen


@dataclass(frozen=True)
class Grid:
    """The cases to measure: every combination of these values; a draft is spelled as one of DRAFTS or, with
    its own gamma, as chain:8.
    """

    vocab: tuple[int, ...]
    gamma: tuple[int, ...]
    batch: tuple[int, ...]
    draft: tuple[str, ...] = tuple(DRAFTS)

    @property
    def cases(self) -> list[tuple[str, int, int, int]]:
        """(draft, gamma, V, B) of each case."""
        split = (each.partition(":") for each in self.draft)
        deep = [(kind, int(g)) for kind, _, own in split for g in ([own] if own else self.gamma)]
        return [(*each, *sizes) for each in deep for sizes in product(self.vocab, self.batch)]

    def total(self, device: torch.device) -> int:
        """The number of points."""
        return sum(len([*methods(draft, B, device)]) for draft, _, _, B in self.cases)


FULL = Grid((32_768, 131_072, 262_144), (4, 8), (1, 8, 64, 256))
ON_CPU = Grid((4_096, 32_768), (4,), (1, 4))
"""Without a GPU: smaller, and plain torch and transformers only."""
NOT_MADE = "all"  # the method of a point whose case could not be made


@dataclass(frozen=True)
class Point:
    """One method on one case. `seconds` is None if it could not run, and `note` says why.

    `floor_share` is (time to read each logit once at the copy bandwidth) / `seconds`. `ratio` is `seconds`
    divided by the seconds of the case's first method.
    """

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
    """Measures every method on every case, with bfloat16 logits on a GPU and float32 elsewhere."""
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    for sizes in grid.cases:
        try:
            case = make(*sizes, device, dtype)
        except (RuntimeError, MemoryError) as error:
            yield Point(*sizes, NOT_MADE, None, 0, None, None, _why(error))
            continue
        first = None
        for name, taken, note in _measured(case, device):
            first = first or taken
            floor = taken and case.bytes / bandwidth / taken
            ratio = taken and first and taken / first
            yield Point(*sizes, name, taken, case.bytes, floor, ratio, note)


def _measured(case: Case, device: torch.device) -> Iterator[tuple[str, float | None, str]]:
    # (method, seconds, note). On a GPU methods are timed one after the other; on a CPU they take turns.
    ready = [(name, *_ready(case, maker)) for name, maker in methods(case.draft, case.B, device)]
    on_cpu = iter([] if device.type == "cuda" else timing.on_cpu([call for _, call, _ in ready if call]))
    for name, call, note in ready:
        if call is not None and device.type == "cuda":
            yield name, *_on_gpu(call, device)
        else:
            yield name, next(on_cpu) if call else None, note


def _ready(case: Case, maker: Maker) -> tuple[Call | None, str]:
    # Another package may raise any exception, and may print to standard output, which is kept for the answer.
    try:
        with redirect_stdout(sys.stderr):
            call = maker(case)
            call()
    except Exception as error:
        return None, _why(error)
    return call, ""


def _on_gpu(call: Call, device: torch.device) -> tuple[float | None, str]:
    note = ""
    for graph in (False,) if waits(call, device) else (True, False):
        try:
            return timing.on_gpu(call, device, graph), "" if graph else "no graph"
        except RuntimeError as error:
            note = _why(error)
    return None, note


def _why(error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"not installed: {error}"
    if out_of_memory(error):
        return "out of memory"
    return f"did not run: {next(iter(str(error).splitlines()), '') or type(error).__name__}"


def missing(points: Sequence[Point]) -> list[Point]:
    """This project's own methods that could not be measured. Other packages may be absent."""
    own = {f"{name} {kind}" for names in OURS.values() for name in names for kind in ("kernels", "torch")}
    return [point for point in points if point.seconds is None and point.method in {*own, NOT_MADE}]


def table(points: Sequence[Point]) -> Table:
    """One line per point; the line of a method that could not run says why."""
    headings = "draft", "gamma", "V", "B", "method", "time", "MB", "of floor", "ratio", ""
    made = screen.table("Verification from logits", "lrrrlrrrrl", *headings)
    for point in points:
        made.add_row(
            *(point.draft, str(point.gamma), f"{point.V:,}", str(point.B), point.method),
            "" if point.seconds is None else _time(point.seconds),
            f"{point.bytes / 1e6:,.1f}",
            "" if point.floor_share is None else f"{point.floor_share:.1%}",
            "" if point.ratio is None else f"{point.ratio:.2f}",
            point.note,
        )
    return made


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
