"""Differences and ratios of what was measured, with confidence intervals over repeats and questions."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from math import exp, inf, isfinite, log, sqrt

import numpy as np
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
    names = clusters or range(len(ours))
    return means_apart(np.subtract(ours, theirs).tolist(), names, [0.0] * len(names), names)


def means_apart(
    ours: Sequence[float], clusters: Sequence[Hashable], theirs: Sequence[float], other: Sequence[Hashable]
) -> Estimate:
    """The difference of two unpaired means, with a t-interval over independent clusters. Both sides may have
    numbers of the same cluster.

    >>> means_apart([2.0, 4.0], "ab", [1.0, 2.0, 3.0], "aab").value
    1.0
    """
    value = float(np.mean(ours)) - float(np.mean(theirs))
    sums: defaultdict[Hashable, float] = defaultdict(float)  # of each cluster; zero in expectation
    for names, numbers, sign in ((clusters, ours, 1), (other, theirs, -1)):
        for cluster, off in zip(names, np.subtract(numbers, np.mean(numbers)) / len(numbers), strict=True):
            sums[cluster] += sign * float(off)
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
