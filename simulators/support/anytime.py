"""Anytime-valid tests by betting: wealth that grows only if outcomes do not follow their law."""

from collections import Counter
from collections.abc import Hashable
from math import inf, log, sqrt

ERROR = 1e-6
"""Default probability of ever rejecting outcomes that do follow the law."""


class Wealth:
    """An e-process in logarithms. `rejected` once its largest value `most` has reached log(1/error).

    >>> fair = Wealth(0.001)
    >>> fair.bet(log(2)), fair.bet(-log(2)), fair.log_e, fair.rejected
    (None, None, 0.0, False)
    """

    def __init__(self, error: float = ERROR):
        self.error, self.log_e, self.most, self.runs = error, 0.0, 0.0, 0

    def bet(self, gained: float) -> None:
        """Multiplies the wealth by a factor, given by its logarithm."""
        self.to(self.log_e + gained)

    def to(self, log_e: float) -> None:
        """Sets the wealth after another bet."""
        self.log_e, self.runs = log_e, self.runs + 1
        self.most = max(self.most, log_e)

    @property
    def rejected(self) -> bool:
        return self.most >= -log(self.error)


class Process(Wealth):
    """The Dirichlet-mixture e-process that tests whether outcomes follow given probabilities
    (lindon2022anytime).

    The e-value is the likelihood of the outcomes under a uniform Dirichlet mixture of all laws on the same
    words, divided by their likelihood under the tested law. Under the tested law it is a non-negative
    martingale that starts at 1. By Ville's inequality the probability that it ever reaches 1/error, which
    makes `rejected` true, is at most `error`. `words` is the number of possible outcomes. The tested law may
    change from step to step, for instance with the prompt.

    >>> fair = Process(words=2)
    >>> for n in range(200):
    ...     fair.update(n % 2, 0.5)
    >>> biased = Process(words=2)
    >>> while not biased.rejected:
    ...     biased.update(1, 0.5)
    >>> fair.rejected, biased.runs
    (False, 25)
    """

    def __init__(self, words: int, error: float = ERROR):
        super().__init__(error)
        self.words, self.counts = words, Counter[Hashable]()

    def update(self, word: Hashable, probability: float) -> None:
        """Adds an outcome and its probability under the law; probability 0 rejects at once."""
        predicted = (1 + self.counts[word]) / (self.words + self.runs)
        self.bet(log(predicted) - log(probability) if probability > 0 else inf)
        self.counts[word] += 1

    @property
    def detectable(self) -> float:
        """The total variation above which the law would be expected to be rejected by now, at most 1."""
        return detectable(self.words, self.runs, self.error)


def detectable(words: int, runs: int, error: float = ERROR) -> float:
    """The total variation above which rejection is expected after so many runs on so many words.

    The log e-value of a law at relative entropy D grows as n D - (words - 1)/2 log n, and D is at
    least 2 TV^2 (Pinsker); rejection is at -log error.
    """
    return min(1.0, sqrt((-log(error) + (words - 1) / 2 * log(max(runs, 2))) / (2 * max(runs, 1))))
