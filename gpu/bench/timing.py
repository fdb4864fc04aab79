"""Time of a call, copy bandwidth of the device, and confidence intervals over repeats."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import exp, inf, isfinite, log, sqrt
from statistics import median
from time import perf_counter
from timeit import timeit

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import t

from draftproof.gpu.network.graphs import captured

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

    @property
    def finite(self) -> dict[str, float | None]:
        """As a JSON object; infinite ends become null."""
        return {name: value if isfinite(value) else None for name, value in asdict(self).items()}


def difference(
    ours: Sequence[float], theirs: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """The mean difference of pairs, with a t-interval over independent clusters (default: every pair one)."""
    apart = np.subtract(ours, theirs)
    return _clustered(float(apart.mean()), [(clusters or range(len(apart)), apart - apart.mean())])


def means_apart(
    ours: Sequence[float], clusters: Sequence[Hashable], theirs: Sequence[float], other: Sequence[Hashable]
) -> Estimate:
    """The difference of two unpaired means, with a t-interval over independent clusters. Both sides may have
    numbers of the same cluster.

    >>> means_apart([2.0, 4.0], "ab", [1.0, 2.0, 3.0], "aab").value
    1.0
    """
    means = [float(np.mean(each)) for each in (ours, theirs)]
    off = (clusters, np.subtract(ours, means[0])), (other, np.subtract(means[1], theirs))
    return _clustered(means[0] - means[1], off)


def _clustered(value: float, off: Iterable[tuple[Iterable[Hashable], NDArray]]) -> Estimate:
    """The value with a t-interval. `off` holds (clusters, deviations from a mean); each independent cluster's
    part of the sum of their means is zero in expectation.
    """
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for clusters, each in off:
        for cluster, part in zip(clusters, each / len(each), strict=True):
            sums[cluster] += float(part)
    count = len(sums)
    if count < 2:
        return Estimate(value, -inf, inf)
    deviation = sqrt(count / (count - 1) * sum(part**2 for part in sums.values()))
    half = float(t.ppf((1 + LEVEL) / 2, count - 1)) * deviation
    return Estimate(value, value - half, value + half)


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """The geometric mean of the ratios of paired repeats."""
    found = difference([log(a) for a in ours], [log(b) for b in theirs])
    return Estimate(exp(found.value), exp(found.low), exp(found.high))
