"""Time of a call, copy bandwidth of the device, and confidence intervals over repeats."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import exp, inf, log, sqrt
from statistics import median
from time import perf_counter
from timeit import timeit

import numpy as np
import torch
from scipy.stats import t

from draftproof.gpu.graphs import captured

REPEATS, SECONDS = 30, 2.0
"""A measurement ends after this many repetitions, or after this long if there were at least three."""
FLUSHES = 4
"""How often the buffer is overwritten. Once is enough to flush the cache, but the device must still be busy
when the call arrives; otherwise the host's time to submit the call would be counted."""
LEVEL = 0.95  # coverage of the t-intervals, if cluster means (of logarithms, for ratios) are normal


def on_gpu(call: Callable[[], object], device: torch.device, graph: bool = True) -> float:
    """Median seconds by CUDA events, with the L2 cache flushed before each repetition. With `graph` the call
    is captured as a CUDA graph and its replay is timed, which leaves out the host's work.
    """
    with torch.cuda.device(device):
        run = captured(call, device)[0] if graph else call
        run()
        size = 4 * torch.cuda.get_device_properties(device).L2_cache_size
        flush = torch.empty(size, dtype=torch.int8, device=device)
        return median(_events(run, flush) for _ in _rounds(SECONDS))


def on_cpu(calls: Sequence[Callable[[], object]]) -> list[float]:
    """The smallest time of each call in seconds. Calls take turns, so that other load slows all alike."""
    least = [inf] * len(calls)
    for _ in _rounds(SECONDS * len(calls)):
        least = [min(best, timeit(call, number=1)) for best, call in zip(least, calls, strict=True)]
    return least


def copy_bandwidth(device: torch.device) -> float:
    """Bytes a second (read plus written) of a large copy on the device."""
    source = torch.empty(2**31 if device.type == "cuda" else 2**27, dtype=torch.int8, device=device).random_()
    target = torch.empty_like(source)
    copy = partial(target.copy_, source)
    return 2 * source.numel() / (on_gpu(copy, device) if device.type == "cuda" else on_cpu([copy])[0])


def _rounds(seconds: float) -> Iterator[int]:
    started = perf_counter()
    for done in range(REPEATS):
        if done >= 3 and perf_counter() - started >= seconds:
            return
        yield done


def _events(call: Callable[[], object], flush: torch.Tensor) -> float:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(FLUSHES):
        flush.zero_()
    start.record()
    call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


@dataclass(frozen=True)
class Estimate:
    """A value and its interval; the ends are infinite if there are fewer than two clusters."""

    value: float
    low: float
    high: float


def difference(
    ours: Sequence[float], theirs: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """The mean difference of pairs, with a t-interval over independent clusters (default: every pair one)."""
    apart = np.subtract(ours, theirs)
    mean = float(apart.mean())
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for cluster, off in zip(clusters or range(len(apart)), apart - mean, strict=True):
        sums[cluster] += float(off)
    count = len(sums)
    if count < 2:
        return Estimate(mean, -inf, inf)
    deviation = sqrt(count / (count - 1) * sum(each**2 for each in sums.values())) / len(apart)
    half = float(t.ppf((1 + LEVEL) / 2, count - 1)) * deviation
    return Estimate(mean, mean - half, mean + half)


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """The geometric mean of the ratios of paired repeats."""
    found = difference([log(a) for a in ours], [log(b) for b in theirs])
    return Estimate(exp(found.value), exp(found.low), exp(found.high))
