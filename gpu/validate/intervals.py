"""Anytime-valid intervals: tests that outcomes follow their predicted laws or stay below a bound."""

from dataclasses import dataclass
from math import inf, log

import torch
from torch import Tensor

from draftproof.simulators.anytime import ERROR

STRENGTHS = 2.0 ** torch.arange(-10, 3, dtype=torch.float64)
"""Values of lambda in `agreement`, fixed in advance: a union bound allows taking the best of them."""
BETS = torch.cat((torch.tensor([0.9, 0.75]), 2.0 ** -torch.arange(1, 11))).double()  # the same for `ceiling`


@dataclass(frozen=True)
class Interval:
    """A measured mean, the predicted mean, and how far apart they may be; all 0 if there are no steps.

    If each step's outcome follows its predicted law, then with probability at least 1 - error `measured` lies
    in [predicted - below, predicted + above] at all times simultaneously.
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
        """Whether the measurement exceeds the prediction, as an upper bound, by more than chance allows."""
        return self.measured - self.predicted > self.above


def agreement(law: Tensor, seen: Tensor, error: float = ERROR) -> Interval:
    """The interval for the mean of outcomes `seen` [steps] in 0..M-1 with conditional laws `law` [steps, M].

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
    """`agreement` of outcomes 0 and 1: `odds` [steps] are the probabilities of 1, `seen` [steps] the
    outcomes.
    """
    odds = odds.double().clamp(0, 1)
    return agreement(torch.stack((1 - odds, odds), 1), seen, error)


def ceiling(odds: Tensor, seen: Tensor, most: float, error: float = ERROR) -> Interval:
    """The interval for the mean of outcomes 0 and 1 whose probabilities have upper bounds. Only `above` is
    bounded. `odds` [steps] are unbiased estimates, in [0, most], of the upper bounds; `seen` [steps] are the
    outcomes.

    Let d >= -1 be (outcome - estimate) / most, of conditional mean at most 0, lambda in [0, 1) and
    psi = -log(1 - lambda) - lambda. exp(lambda d - psi d^2) <= 1 + lambda d has mean at most 1, so the
    product over the steps is a supermartingale and, by Ville's inequality, the sum of d stays below
    (log(1/error) + psi sum d^2) / lambda at all times.
    """
    odds, seen, steps = odds.double(), seen.double(), len(odds)
    squares = (((seen - odds) / most) ** 2).sum()
    price = log(len(BETS) / error)
    above = float(((price + (-torch.log1p(-BETS) - BETS) * squares) / BETS).amin())
    return Interval(float(seen.mean()), float(odds.mean()), inf, most * above / steps, steps, error)
