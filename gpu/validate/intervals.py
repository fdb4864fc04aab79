"""Anytime-valid intervals: do outcomes agree with their predicted laws, do they stay below a bound?"""

from dataclasses import dataclass
from math import inf, log

import torch
from torch import Tensor

from draftproof.simulators.anytime import ERROR

STRENGTHS = 2.0 ** torch.arange(-10, 3, dtype=torch.float64)
"""Bets lambda of `agreement`; fixed in advance, so that a union bound pays for taking the best."""
BETS = torch.cat((torch.tensor([0.9, 0.75]), 2.0 ** -torch.arange(1, 11))).double()  # likewise of `ceiling`


@dataclass(frozen=True)
class Interval:
    """A measured mean, the predicted one, and how far apart they may be; all 0 if there are no steps.

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


def agreement(law: Tensor, seen: Tensor, error: float = ERROR) -> Interval:
    """The mean of outcomes seen [steps] in 0..M-1, each with a conditional law of its own: law [steps, M].

    For each lambda, exp(lambda (sum of outcome - mean) - sum of log E exp(lambda (outcome - mean))) is a
    martingale from 1, so by Ville's inequality the sum stays below (log(1/error) + the second sum) / lambda
    at all times; -lambda gives the other side. If the law's mean is only an upper bound of the outcome's
    mean, the upper side still holds.
    """
    steps = len(law)
    if not steps:
        return Interval(0.0, 0.0, 0.0, 0.0, 0, error)
    law, seen, values = law.double(), seen.double(), torch.arange(law.shape[1]).double()
    mean = law @ values
    off, mass = values - mean[:, None], law.clamp(min=1e-300).log()
    bets = torch.stack((STRENGTHS, -STRENGTHS))[..., None, None]
    growth = torch.logsumexp(bets * off + mass, -1).sum(-1)  # [2, lambdas]
    price = log(2 * len(STRENGTHS) / error)
    above, below = (((growth + price) / STRENGTHS).amin(1) / steps).tolist()
    return Interval(float(seen.mean()), float(mean.mean()), below, above, steps, error)


def agreement_of_odds(odds: Tensor, seen: Tensor, error: float = ERROR) -> Interval:
    """`agreement` of outcomes 0 and 1: the probability [steps] of a 1, and whether it came [steps]."""
    odds = odds.double().clamp(0, 1)
    return agreement(torch.stack((1 - odds, odds), 1), seen, error)


def ceiling(odds: Tensor, seen: Tensor, most: float, error: float = ERROR) -> Interval:
    """The mean of outcomes 0 and 1 (seen [steps]), each with an unbiased estimate, in [0, most], of an upper
    bound of its probability (odds [steps]). Only `above` is bounded.

    Let d >= -1 be (outcome - estimate) / most, of mean at most 0 whatever went before, lambda in [0, 1) and
    psi = -log(1 - lambda) - lambda. exp(lambda d - psi d^2) <= 1 + lambda d has mean 1 at most, so the
    product over the steps is a supermartingale and, by Ville's inequality, the sum of d stays below
    (log(1/error) + psi sum d^2) / lambda at all times.
    """
    odds, seen, steps = odds.double(), seen.double(), len(odds)
    squares = (((seen - odds) / most) ** 2).sum()
    price = log(len(BETS) / error)
    above = float(((price + (-torch.log1p(-BETS) - BETS) * squares) / BETS).amin())
    return Interval(float(seen.mean()), float(odds.mean()), inf, most * above / steps, steps, error)
