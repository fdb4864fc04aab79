"""An anytime-valid test that outcomes follow a given law."""

from collections import Counter
from collections.abc import Hashable
from math import inf, log, sqrt

ERROR = 1e-6
"""Default probability of ever rejecting counts that do follow the law."""


class Process:
    """The Dirichlet-mixture e-process of outcomes, each with the probability it should have had
    (lindon2022anytime).

    The e-value is the likelihood of the outcomes under a uniform Dirichlet mixture of all laws on the
    same words, over their likelihood under the law. Under the law it is a non-negative martingale
    from 1, so by Ville's inequality it ever reaches 1/error, and `rejected` is ever true, with
    probability at most `error`. `words` is how many outcomes there are; the probabilities may change
    from step to step, as from one prompt to the next, as long as each is the law's own for that step.

    >>> fair = Process(words=2)
    >>> for n in range(200):
    ...     fair.saw(n % 2, 0.5)
    >>> biased = Process(words=2)
    >>> while not biased.rejected:
    ...     biased.saw(1, 0.5)
    >>> fair.rejected, biased.runs
    (False, 25)
    """

    def __init__(self, words: int, error: float = ERROR):
        self.words, self.error = words, error
        self.counts: Counter[Hashable] = Counter()
        self.runs, self.log_e, self.most = 0, 0.0, 0.0

    def saw(self, word: Hashable, probability: float) -> None:
        """One more outcome, and the law's probability of it; infinite evidence where that is 0."""
        if probability > 0:
            predicted = (1 + self.counts[word]) / (self.words + self.runs)
            self.log_e += log(predicted) - log(probability)
        else:
            self.log_e = inf
        self.counts[word] += 1
        self.runs += 1
        self.most = max(self.most, self.log_e)

    @property
    def rejected(self) -> bool:
        return self.most >= -log(self.error)

    @property
    def detectable(self) -> float:
        """The total variation above which rejection was to be expected by now, at most 1."""
        return detectable(self.words, self.runs, self.error)


def detectable(words: int, runs: int, error: float = ERROR) -> float:
    """The total variation above which rejection is expected after so many runs on so many words.

    The log e-value of a law at relative entropy D grows as n D - (words - 1)/2 log n, and D is at
    least 2 TV^2 (Pinsker); rejection is at -log error.
    """
    return min(1.0, sqrt((-log(error) + (words - 1) / 2 * log(max(runs, 2))) / (2 * max(runs, 1))))
