"""Times verification from logits: the kernels, plain torch, and the verifiers of other packages.

    python -m benchmarks.verification [--draft chain:8] [--vocab 131072] [--batch 64] [--device cuda] [--json]

The options may be repeated. A call is the whole step from logits: for packages that take probabilities, the
softmax of both sides is part of the time. Times stand beside the bandwidth floor, one read of each logit at
the copy bandwidth measured in the same run. On a GPU a call is captured and replayed between two events,
with the L2 cache overwritten before. Without a GPU: a smaller grid of plain torch and transformers.
docs/kernels.md lists the releases of other packages; install draftproof without extras into their
environment. Exit status 1 if one of our own methods did not run; a package that is not installed is no
failure. Ctrl-C prints what was measured so far.
"""

import argparse
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib import import_module
from itertools import product
from math import inf
from statistics import median
from time import perf_counter
from timeit import timeit
from typing import TypeAlias

import torch
from rich.table import Table
from torch import Tensor

from benchmarks.cases import DRAFTS, Case, make
from benchmarks.graphs import captured, waits
from draftproof.gpu import kernels
from draftproof.gpu.sampling.device import described, out_of_memory, usable
from draftproof.gpu.verify import named
from draftproof.simulators import screen
from draftproof.theory.errors import BadInput

Call: TypeAlias = Callable[[], object]
Maker: TypeAlias = Callable[[Case], Call]

OURS = {
    "chain": ("token", "block"),
    "tree": ("rrs", "traversal"),
    "tree+": ("specinfer", "traversal", "optimal", "lifted-optimal"),
    "strata": ("optimal", "lifted-optimal"),
}
"""This project's verifiers that are timed, by draft."""

REPEATS, SECONDS = 30, 2.0
"""A measurement ends after this many repetitions, or after this long if there were at least three."""
FLUSHES = 4
"""How often the buffer is overwritten. Once is enough to flush the cache, but the device must still be busy
when the call arrives; otherwise the host's time to submit the call would be counted."""

NOT_MADE = "all"  # the method of a point whose case could not be made


# What is timed


@dataclass(frozen=True)
class Grid:
    """The cases to measure: every combination of these values; a draft is one of DRAFTS or, with its own
    gamma, like chain:8.
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


FULL = Grid((32_768, 131_072, 262_144), (4, 8), (1, 8, 64, 256))
ON_CPU = Grid((4_096, 32_768), (4,), (1, 4))


def methods(draft: str, B: int, device: torch.device) -> Iterator[tuple[str, Maker]]:
    """(name, function that makes the call) of each method that applies; ratios are to the first one.

    The kernels are timed only when compiled: times in Triton's interpreter mean nothing.
    """
    gpu = device.type == "cuda"
    kinds = {"kernels": kernels.verify} if gpu and kernels.AVAILABLE else {}
    for kind, verify in (kinds | {"torch": plain}).items():
        yield from ((f"{name} {kind}", partial(partial, verify, name)) for name in OURS[draft])
    if draft == "chain" and B == 1:
        yield "transformers token", transformers
    if draft == "chain" and gpu:
        yield "FlashInfer token", flashinfer


def plain(name: str, case: Case) -> object:
    """The verifier of that name in torch."""
    return named(name).verify(case.map_rows(_rows))


def transformers(case: Case) -> Call:
    """Token verification of one request; draws its own noise. Returns (ids [1, accepted + 1], accepted)."""
    sample = import_module("transformers.generation.utils")._speculative_sampling
    settings = {"is_done_candidate": False, "last_assistant_token_is_eos": False, "max_matches": case.gamma}
    taken = inspect.signature(sample).parameters
    extra = {key: value for key, value in settings.items() if key in taken}
    target, proposal = case.target.float(), case.q.float()
    return lambda: sample(case.tokens, proposal, case.gamma, target, **extra)


def flashinfer(case: Case) -> Call:
    """Token verification. It draws noise from a seed, since its default generator cannot be captured.
    Returns (ids [B, gamma + 1] padded with -1, number of tokens whose own test succeeds [B], accepted [B]).
    """
    sample = import_module("flashinfer.sampling").chain_speculative_sampling
    tokens = case.tokens.int()
    return lambda: sample(_rows(case.q), tokens, _rows(case.target), seed=0, offset=0)


def _rows(logits: Tensor) -> Tensor:
    return logits.float().softmax(-1)


# Clocks


def on_gpu(call: Call, device: torch.device, graph: bool = True) -> float:
    """Median seconds by CUDA events, with the L2 cache flushed before each repetition. With `graph` the call
    is captured as a CUDA graph and its replay is timed, which leaves out the host's work.
    """
    with torch.cuda.device(device):
        run = captured(call, device)[0] if graph else call
        run()
        size = 4 * torch.cuda.get_device_properties(device).L2_cache_size
        flush = torch.empty(size, dtype=torch.int8, device=device)
        return median(_events(run, flush) for _ in _rounds(SECONDS))


def on_cpu(calls: Sequence[Call]) -> list[float]:
    """The smallest time of each call in seconds. Calls take turns, so that other load slows all alike."""
    least = [inf] * len(calls)
    for _ in _rounds(SECONDS * len(calls)):
        least = [min(best, timeit(call, number=1)) for best, call in zip(least, calls, strict=True)]
    return least


def copy_bandwidth(device: torch.device) -> float:
    """Bytes a second (read plus written) of a large copy on the device."""
    source = torch.empty(2**31 if device.type == "cuda" else 2**27, dtype=torch.int8, device=device).random_()
    copy = partial(torch.empty_like(source).copy_, source)
    return 2 * source.numel() / (on_gpu(copy, device) if device.type == "cuda" else on_cpu([copy])[0])


def _rounds(seconds: float) -> Iterator[int]:
    started = perf_counter()
    for done in range(REPEATS):
        if done >= 3 and perf_counter() - started >= seconds:
            return
        yield done


def _events(call: Call, flush: Tensor) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(FLUSHES):
        flush.zero_()
    start.record()
    call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


# Points


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
    by_turns = iter([] if device.type == "cuda" else on_cpu([call for _, call, _ in ready if call]))
    for name, call, note in ready:
        if call is not None and device.type == "cuda":
            yield name, *_on_gpu(call, device)
        else:
            yield name, next(by_turns) if call else None, note


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
            return on_gpu(call, device, graph), "" if graph else "no graph"
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
    headings = "draft", "gamma", "V", "B", "method", "us", "MB", "of floor", "ratio", ""
    made = screen.table("Verification from logits", "lrrrlrrrrl", *headings)
    for point in points:
        made.add_row(
            *(point.draft, str(point.gamma), f"{point.V:,}", str(point.B), point.method),
            "" if point.seconds is None else f"{point.seconds * 1e6:,.1f}",
            f"{point.bytes / 1e6:,.1f}",
            "" if point.floor_share is None else f"{point.floor_share:.1%}",
            "" if point.ratio is None else f"{point.ratio:.2f}",
            point.note,
        )
    return made


# The command


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.verification", description=__doc__, formatter_class=plain
    )
    parser.add_argument("--draft", action="append", metavar="chain:8", help=f"{', '.join(DRAFTS)}")
    for name in ("vocab", "batch"):
        parser.add_argument(f"--{name}", type=int, action="append", metavar="N")
    parser.add_argument("--device")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    for draft in given.draft or ():
        if not re.fullmatch(r"(chain|tree\+?|strata)(:([1-9]|[12][0-9]|3[0-2]))?", draft):
            parser.error(f"--draft {draft}: one of {', '.join(DRAFTS)}, or with its depth (to 32) as chain:8")
    if min(given.vocab or [2]) < 2 or min(given.batch or [1]) < 1:
        parser.error("--vocab is at least 2, --batch at least 1")
    try:
        device = usable(given.device)
    except BadInput as error:
        parser.error(str(error))
    if device.type not in ("cuda", "cpu"):
        parser.error(f"--device {given.device}: cuda or cpu, which can be timed")
    asked = {name: tuple(each) for name in ("vocab", "batch", "draft") if (each := getattr(given, name))}
    grid = replace(FULL if device.type == "cuda" else ON_CPU, **asked)
    if device.type != "cuda":
        why = "no GPU is used: a smaller grid, without the kernels and the packages that need a GPU"
        print(why, file=sys.stderr)
    points, bandwidth, complete = list[Point](), None, False
    try:
        bandwidth = copy_bandwidth(device)
        for point in run(grid, device, bandwidth):
            points.append(point)
        complete = True
    except KeyboardInterrupt:
        print("interrupted: what was measured is given", file=sys.stderr)
    lost = missing(points)
    if given.json:
        answer = {
            "device": described(device),
            "gpu": device.type == "cuda",
            "copy_bytes_per_second": bandwidth,
            "complete": complete,
            "ok": complete and not lost,
            "points": [asdict(point) for point in points],
        }
        print(json.dumps(answer))
    elif bandwidth is not None:
        screen.console().print(table(points))
        print(f"{described(device)}; copy bandwidth {bandwidth / 1e9:,.1f} GB/s")
    if lost:
        print(f"{len(lost)} of {len(points)} measurements could not be made", file=sys.stderr)
    return int(bool(lost)) if complete else 130


if __name__ == "__main__":
    sys.exit(main())
