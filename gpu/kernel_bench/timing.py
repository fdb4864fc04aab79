"""How long a call takes, with cold caches on a GPU, and the copy bandwidth beside it."""

from collections.abc import Callable
from statistics import median
from time import perf_counter

import torch

REPEATS = 30
SECONDS = 2.0
"""A measurement ends after this many repetitions or, from three on, this long."""


def seconds_of(call: Callable[[], object], device: torch.device, graph: bool = False) -> float:
    """Seconds of one call. On a GPU the median by events, the L2 cache flushed before each repetition,
    with `graph` of a replay of the captured call; on a CPU, which others may use too, the least.
    """
    call()
    if device.type != "cuda":
        return min(_repeated(lambda: _clocked(call)))
    for _ in range(2):
        call()
    torch.cuda.synchronize(device)
    if graph:
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            call()
        call = captured.replay
    size = 4 * torch.cuda.get_device_properties(device).L2_cache_size
    flush = torch.empty(size, dtype=torch.int8, device=device)
    return median(_repeated(lambda: _events(call, flush)))


def copy_bandwidth(device: torch.device) -> float:
    """Bytes a second, read and written, of a large copy on the device."""
    source = torch.empty(2**31 if device.type == "cuda" else 2**27, dtype=torch.int8, device=device).random_()
    target = torch.empty_like(source)
    return 2 * source.numel() / seconds_of(lambda: target.copy_(source), device)


def _repeated(once: Callable[[], float]) -> list[float]:
    taken: list[float] = []
    started = perf_counter()
    while len(taken) < 3 or (len(taken) < REPEATS and perf_counter() - started < SECONDS):
        taken.append(once())
    return taken


def _clocked(call: Callable[[], object]) -> float:
    started = perf_counter()
    call()
    return perf_counter() - started


def _events(call: Callable[[], object], flush: torch.Tensor) -> float:
    flush.zero_()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3
