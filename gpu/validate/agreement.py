"""Whether what was counted agrees with what was to be expected, step by step."""

from dataclasses import dataclass
from math import log

import torch
from torch import Tensor

from draftproof.simulators.anytime import ERROR

STRENGTHS = 2.0 ** torch.arange(-10, 3, dtype=torch.float64)
"""The bets lambda of which the best is taken; fixed beforehand, so that a union bound pays for the choice."""


@dataclass(frozen=True)
class Interval:
    """The mean that was measured, the one that was predicted, and how far the first may be from the second.

    measured lies in [predicted - below, predicted + above] with probability at least 1 - error,
    whenever one looks, if each step's outcome follows the law it was predicted by.
    """

    measured: float
    predicted: float
    below: float
    above: float
    steps: int
    error: float

    @property
    def agrees(self) -> bool:
        return -self.below <= self.measured - self.predicted <= self.above

    @property
    def exceeds(self) -> bool:
        """Whether the measurement is above the prediction, taken as a bound, by more than chance allows."""
        return self.measured - self.predicted > self.above


class Agreement:
    """Outcomes, each beside its own conditional law.

    For each lambda, exp(lambda (sum of outcome - mean) - sum of log E exp(lambda (outcome - mean))) is a
    martingale from 1, so by Ville's inequality the sum stays below (log(1/error) + the second sum) / lambda
    at all times, and likewise with -lambda for the other side. No variance is estimated and no number of
    steps is assumed large. Where the law's mean is only a bound of the outcomes' own, the upper side holds.

    >>> fair = Agreement(torch.tensor([0.0, 1.0]))
    >>> fair.add(torch.full((1000, 2), 0.5), torch.arange(1000) % 2)
    >>> found = fair.interval()
    >>> found.agrees, round(found.above, 2)
    (True, 0.1)
    """

    def __init__(self, values: Tensor, error: float = ERROR) -> None:
        """`values` [M]: what an outcome can be."""
        self.values, self.error = values.double(), error
        self.laws: list[Tensor] = []
        self.seen: list[Tensor] = []

    def add(self, law: Tensor, seen: Tensor) -> None:
        """Outcomes: law [B, M] over the values, of which the one with index seen [B] came."""
        self.laws.append(law.double().cpu())
        self.seen.append(seen.cpu())

    def add_odds(self, odds: Tensor, seen: Tensor) -> None:
        """Outcomes 0 and 1: the chance [B] of a 1, and whether it came [B]."""
        odds = odds.double().clamp(0, 1)
        self.add(torch.stack((1 - odds, odds), 1), seen.long())

    def interval(self) -> Interval:
        """Means over the steps so far."""
        if not self.laws:
            return Interval(0.0, 0.0, 0.0, 0.0, 0, self.error)
        law, seen = torch.cat(self.laws), torch.cat(self.seen)
        mean = law @ self.values
        off, mass = self.values - mean[:, None], law.clamp(min=1e-300).log()
        bets = torch.stack((STRENGTHS, -STRENGTHS))[..., None, None]
        growth = torch.logsumexp(bets * off + mass, -1).sum(-1)  # [2, lambdas]
        price = log(2 * len(STRENGTHS) / self.error)
        above, below = ((growth + price) / STRENGTHS).amin(1).tolist()
        steps = len(law)
        measured, predicted = float(self.values[seen].mean()), float(mean.mean())
        return Interval(measured, predicted, below / steps, above / steps, steps, self.error)
