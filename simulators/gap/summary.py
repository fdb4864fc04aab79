"""Means over an ensemble of instances."""

from collections.abc import Sequence
from dataclasses import dataclass

from draftproof.simulators.gap.measure import Gap, ratio, remark
from draftproof.theory.verifiers import VERIFIERS

REACHED = 1e-9
"""An optimum is reached where the share misses 1 by less; certified errors are smaller."""


@dataclass(frozen=True)
class Summary:
    """One verifier, or one optimum, over an ensemble: its mean E[tau]; that mean over the mean of the
    stateless and of the full-information optimum; its least share of the stateless one, and how
    often it reached that."""

    name: str
    instances: int
    mean: float
    stateless: float
    least: float
    reached: int
    full: float
    note: str = ""


def summarise(gaps: Sequence[Gap]) -> list[Summary]:
    """The optima, then the verifiers, the largest mean first."""
    count = len(gaps)
    best = [float(gap.stateless.upper) for gap in gaps]
    full = [float(gap.full.value) for gap in gaps]

    def row(name: str, values: list[float], note: str = "") -> Summary:
        shares = [ratio(value, most) for value, most in zip(values, best, strict=True)]
        of_best, of_full = (ratio(sum(values), sum(most)) for most in (best, full))
        reached = sum(share >= 1 - REACHED for share in shares)
        return Summary(name, count, sum(values) / count, of_best, min(shares), reached, of_full, note)

    rows = []
    for name in gaps[0].expected_accepted:
        values = [float(gap.expected_accepted[name]) for gap in gaps]
        above = any(gap.expected_accepted[name] > gap.stateless.upper for gap in gaps)
        rows.append(row(name, values, remark(VERIFIERS[name], above)))
    rows.sort(key=lambda each: -each.mean)
    return [row("full information", full, "optimum"), row("stateless", best, "optimum"), *rows]
