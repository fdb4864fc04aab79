"""Whether what was counted stays below a bound of which every step gives an estimate."""

from math import inf, log

import torch
from torch import Tensor

from draftproof.gpu.validate.agreement import Interval
from draftproof.simulators.anytime import ERROR

BETS = torch.cat((torch.tensor([0.9, 0.75]), 2.0 ** -torch.arange(1, 11))).double()
"""The bets lambda of which the best is taken, fixed beforehand."""


class Ceiling:
    """Outcomes 0 or 1, each beside an unbiased estimate, in [0, most], of a bound of its chance.

    Let d be the outcome less its estimate, over `most`: at least -1, and at most 0 in mean, whatever went
    before. (log(1 + d) - d) / d^2 rises with d, so for lambda in [0, 1)

        exp(lambda d - psi d^2) <= 1 + lambda d,  psi = -log(1 - lambda) - lambda,

    has mean 1 at most, and the product over the steps is a supermartingale. By Ville's inequality the sum of
    d stays below (log(1/error) + psi sum d^2) / lambda at all times. Nothing is assumed of the variance.

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
        above = ((price + (-torch.log1p(-BETS) - BETS) * squares) / BETS).amin()
        steps = len(odds)
        return Interval(
            float(seen.mean()), float(odds.mean()), inf, self.most * float(above) / steps, steps, self.error
        )
