"""Differences and ratios of what was measured, with confidence intervals over repeats and questions."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from math import exp, inf, isfinite, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

LEVEL = 0.95  # coverage of the t-intervals, if cluster means (of logarithms, for ratios) are normal


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
