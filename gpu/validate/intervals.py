"""Anytime-valid intervals: do outcomes agree with their predicted laws, do they stay below a bound?"""

from dataclasses import dataclass
from math import inf, log

import torch
from torch import Tensor

from draftproof.simulators.anytime import ERROR

STRENGTHS = 2.0 ** torch.arange(-10, 3, dtype=torch.float64)
"""Bets lambda of an `Agreement`; fixed in advance, so that a union bound pays for taking the best."""
BETS = torch.cat((torch.tensor([0.9, 0.75]), 2.0 ** -torch.arange(1, 11))).double()
"""Likewise of a `Ceiling`."""


@dataclass(frozen=True)
class Interval:
    """A measured mean, the predicted one, and how far apart they may be.

    `measured` lies in [predicted - below, predicted + above] with probability at least 1 - error, at all
    times at once, if each step's outcome follows the law it was predicted by.
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
    """Outcomes, each with its own conditional law.

    For each lambda, exp(lambda (sum of outcome - mean) - sum of log E exp(lambda (outcome - mean))) is a
    martingale from 1, so by Ville's inequality the sum stays below (log(1/error) + the second sum) / lambda
    at all times; -lambda gives the other side. If the law's mean is only an upper bound of the outcome's
    mean, the upper side still holds.

    >>> fair = Agreement(torch.tensor([0.0, 1.0]))
    >>> fair.add(torch.full((1000, 2), 0.5), torch.arange(1000) % 2)
    >>> found = fair.interval()
    >>> found.agrees, round(found.above, 2)
    (True, 0.1)
    """

    def __init__(self, values: Tensor, error: float = ERROR) -> None:  # values [M]: what an outcome can be
        self.values, self.error = values.double(), error
        self.laws: list[Tensor] = []
        self.seen: list[Tensor] = []

    def add(self, law: Tensor, seen: Tensor) -> None:
        """Outcomes: law [B, M] over the values, and the index seen [B] of the value that came."""
        self.laws.append(law.double().cpu())
        self.seen.append(seen.cpu())

    def add_odds(self, odds: Tensor, seen: Tensor) -> None:
        """Outcomes 0 and 1: the probability [B] of a 1, and whether it came [B]."""
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


class Ceiling:
    """Outcomes 0 or 1, each with an unbiased estimate, in [0, most], of an upper bound of its probability.

    Let d >= -1 be (outcome - estimate) / most, of mean at most 0 whatever went before, lambda in [0, 1) and
    psi = -log(1 - lambda) - lambda. exp(lambda d - psi d^2) <= 1 + lambda d has mean 1 at most, so the
    product over the steps is a supermartingale and, by Ville's inequality, the sum of d stays below
    (log(1/error) + psi sum d^2) / lambda at all times.

    >>> even = Ceiling(1)
    >>> even.add_odds(torch.full((1000,), 0.5), torch.arange(1000) % 2 == 0)
    >>> even.interval().exceeds
    False
    >>> even.add_odds(torch.full((1000,), 0.5), torch.arange(1000) >= 0)
    >>> even.interval().exceeds
    True
    """

    def __init__(self, most: float, error: float = ERROR) -> None:
        self.most, self.error = most, error
        self.odds: list[Tensor] = []
        self.seen: list[Tensor] = []

    def add_odds(self, odds: Tensor, seen: Tensor) -> None:
        """Steps: estimates [B], and whether a 1 came [B]."""
        self.odds.append(odds.double().cpu())
        self.seen.append(seen.double().cpu())

    def interval(self) -> Interval:
        """Means over the steps so far; only `above` is bounded."""
        if not self.odds:
            return Interval(0.0, 0.0, 0.0, 0.0, 0, self.error)
        odds, seen = torch.cat(self.odds), torch.cat(self.seen)
        squares = (((seen - odds) / self.most) ** 2).sum()
        price = log(len(BETS) / self.error)
        above = float(((price + (-torch.log1p(-BETS) - BETS) * squares) / BETS).amin())
        steps = len(odds)
        return Interval(
            float(seen.mean()), float(odds.mean()), inf, self.most * above / steps, steps, self.error
        )
