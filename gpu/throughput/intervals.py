"""Intervals of ratios and differences over paired repeats."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from statistics import fmean, stdev

from scipy.stats import t

LEVEL = 0.95
"""Coverage of the t-intervals, if logarithms of ratios (or differences) of repeats are normal."""


@dataclass(frozen=True)
class Estimate:
    """A value and its interval; infinite ends where there are fewer than two repeats."""

    value: float
    low: float
    high: float


def difference(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """The mean difference, repeat by repeat.

    >>> difference([2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    Estimate(value=1.0, low=1.0, high=1.0)
    """
    apart = [a - b for a, b in zip(ours, theirs, strict=True)]
    mean = fmean(apart)
    if len(apart) < 2:
        return Estimate(mean, -inf, inf)
    half = float(t.ppf((1 + LEVEL) / 2, len(apart) - 1)) * stdev(apart) / sqrt(len(apart))
    return Estimate(mean, mean - half, mean + half)


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """The geometric mean of the ratios, repeat by repeat.

    >>> ratio([2.0, 4.0], [1.0, 2.0])
    Estimate(value=2.0, low=2.0, high=2.0)
    """
    found = difference([log(a) for a in ours], [log(b) for b in theirs])
    return Estimate(exp(found.value), exp(found.low), exp(found.high) if found.high < inf else inf)
