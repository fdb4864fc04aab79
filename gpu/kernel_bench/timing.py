"""How long a call takes, with cold caches on a GPU, and the copy bandwidth beside it."""

from collections.abc import Callable, Sequence
from math import inf
from statistics import median
from time import perf_counter

import torch

from draftproof.gpu.graphs import captured

REPEATS = 30
SECONDS = 2.0
"""A measurement ends after this many repetitions or, from three on, this long."""


FLUSHES = 4
"""How often the buffer is overwritten: once would do for the cache, but the device must still be busy when
the call arrives, or the time that the host takes to submit it would be counted."""


def on_gpu(call: Callable[[], object], device: torch.device, graph: bool = True) -> float:
    """Median seconds by events, the L2 cache flushed before each repetition: of a replay of the captured
    call, which leaves out what the host does; or of the call itself.
    """
    with torch.cuda.device(device):
        if graph:
            call, _ = captured(call, device)
        else:
            call()
        size = 4 * torch.cuda.get_device_properties(device).L2_cache_size
        flush = torch.empty(size, dtype=torch.int8, device=device)
        taken: list[float] = []
        started = perf_counter()
        while _goes_on(len(taken), perf_counter() - started):
            taken.append(_events(call, flush))
    return median(taken)


def on_cpu(calls: Sequence[Callable[[], object]]) -> list[float]:
    """The least seconds of each call, in turns: what else the machine does then slows all of them alike."""
    least = [inf] * len(calls)
    rounds, started = 0, perf_counter()
    while _goes_on(rounds, (perf_counter() - started) / max(1, len(calls))):
        least = [min(best, clocked(call)) for best, call in zip(least, calls, strict=True)]
        rounds += 1
    return least


def copy_bandwidth(device: torch.device) -> float:
    """Bytes a second, read and written, of a large copy on the device."""
    source = torch.empty(2**31 if device.type == "cuda" else 2**27, dtype=torch.int8, device=device).random_()
    target = torch.empty_like(source)

    def copy() -> object:
        return target.copy_(source)

    return 2 * source.numel() / (on_gpu(copy, device) if device.type == "cuda" else on_cpu([copy])[0])


def _goes_on(rounds: int, seconds: float) -> bool:
    return rounds < 3 or (rounds < REPEATS and seconds < SECONDS)


def clocked(call: Callable[[], object]) -> float:
    started = perf_counter()
    call()
    return perf_counter() - started


def _events(call: Callable[[], object], flush: torch.Tensor) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(FLUSHES):
        flush.zero_()
    start.record()
    call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3
