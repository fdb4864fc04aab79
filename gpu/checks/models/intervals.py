"""Anytime-valid intervals: tests that outcomes follow their predicted laws, or stay below a bound.

A test bets against the hypothesis with fixed stakes and adds up what a stake would have won, so that steps
may be added, and the interval read, at any time (waudbysmith2024betting).
"""

from dataclasses import dataclass
from math import inf, log

import torch
from torch import Tensor

from draftproof.simulators.support.anytime import ERROR

STRENGTHS = 2.0 ** torch.arange(-10, 3, dtype=torch.float64)
"""Values of lambda in `Agreement`, fixed in advance: a union bound allows taking the best of them."""


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

    @property
    def half_width(self) -> float:
        """The larger of both sides; infinite before the first step."""
        return max(self.below, self.above) if self.steps else inf


class Agreement:
    """Paired differences of outcomes 0..M-1 and their means under known conditional laws; several `tests` at
    once have the same number of steps, and each has the probability `error` of a wrong interval.

    For each lambda, exp(lambda (sum of outcome - mean) - sum of log E exp(lambda (outcome - mean))) is a
    martingale from 1, so by Ville's inequality the sum stays below (log(1/error) + the second sum) / lambda
    at all times; -lambda gives the other side. If the law's mean is only an upper bound of the outcome's
    mean, the upper side still holds. An empirical-Bernstein interval has an estimate of the variance in place
    of the second sum, which is exact here because the laws are known.

    >>> coins = Agreement()
    >>> coins.add_odds(torch.full((400,), 0.5), torch.arange(400) % 2)
    >>> coins.interval.agrees
    True
    >>> coins.add_odds(torch.full((400,), 0.5), torch.ones(400))
    >>> coins.interval.agrees
    False
    """

    def __init__(self, error: float = ERROR, tests: int = 1) -> None:
        self.error, self.steps = error, 0
        self.seen, self.mean = torch.zeros(2, tests, dtype=torch.float64)
        self.growth = torch.zeros(2, len(STRENGTHS), tests, dtype=torch.float64)

    def add(self, law: Tensor, seen: Tensor) -> None:
        """Adds the outcomes `seen` [steps, tests] with conditional laws `law` [steps, tests, M]; if there is
        one test, without that dimension.
        """
        law = (law if law.dim() == 3 else law[:, None]).double()
        values = torch.arange(law.shape[2]).double()
        mean = law @ values
        off, mass = values - mean[..., None], law.clamp(min=1e-300).log()
        bets = torch.stack((STRENGTHS, -STRENGTHS))[..., None, None, None]
        self.growth += torch.logsumexp(bets * off + mass, -1).sum(2)  # [2, lambdas, tests]
        self.seen += seen.double().reshape(mean.shape).sum(0)
        self.mean += mean.sum(0)
        self.steps += len(law)

    def add_odds(self, odds: Tensor, seen: Tensor) -> None:
        """The same of outcomes 0 and 1: `odds` are the probabilities of 1."""
        odds = odds.double().clamp(0, 1)
        self.add(torch.stack((1 - odds, odds), -1), seen)

    @property
    def intervals(self) -> list[Interval]:
        """For the mean of each test's outcomes so far, the interval that holds with this `error`."""
        price = log(2 * len(STRENGTHS) / self.error)
        above, below = ((self.growth + price) / STRENGTHS[:, None]).amin(1) * (self.steps > 0)
        every = torch.stack((self.seen, self.mean, below, above)).T / max(self.steps, 1)
        return [Interval(a, b, c, d, self.steps, self.error) for a, b, c, d in every.tolist()]

    @property
    def interval(self) -> Interval:
        """The interval of the only test."""
        (found,) = self.intervals
        return found
