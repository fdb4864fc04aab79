"""An anytime-valid test that counts come from a given exact law."""

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import inf, lgamma, log, sqrt

from theory.law import Law
from theory.rows import Prefix

ERROR = 1e-6
"""Default probability of ever rejecting counts that do follow the law."""


@dataclass(frozen=True)
class Evidence:
    """Evidence against the law: the e-value's logarithm, and whether it passes the error level."""

    log_e: float
    error: float

    @property
    def rejected(self) -> bool:
        return self.log_e >= -log(self.error)


def against(law: Law, counts: Mapping[Prefix, int], error: float = ERROR) -> Evidence:
    """The Dirichlet-mixture e-process of the counts against the law (lindon2022anytime).

    The e-value is the likelihood of the counts under a uniform Dirichlet mixture of all laws on the
    same words, over their likelihood under the law. Under the law it is a non-negative martingale
    from 1, so by Ville's inequality it ever reaches 1/error with probability at most `error`,
    whenever one looks. A word of probability zero is infinite evidence.

    >>> from theory.numbers import exact
    >>> coin = Law({(0,): exact("1/3"), (1,): exact("2/3")})
    >>> against(coin, {(0,): 333, (1,): 667}).rejected, against(coin, {(0,): 500, (1,): 500}).rejected
    (False, True)
    """
    log_law = 0.0
    for word, count in counts.items():
        if count and not law[word]:
            return Evidence(inf, error)
        if count:
            mass = law[word]
            log_law += count * (log(int(mass.p)) - log(int(mass.q)))
    size, runs = len(law), sum(counts.values())
    log_mixture = lgamma(size) - lgamma(size + runs) + sum(lgamma(count + 1) for count in counts.values())
    return Evidence(log_mixture - log_law, error)


class Process:
    """The same e-process fed one outcome at a time, each with the probability it should have had.

    `words` is how many outcomes there are; the probabilities may change from step to step, as from
    one prompt to the next, as long as each is the law's own for that step. The process may be looked
    at and stopped at any time: `rejected` is true from the first moment that the e-value reached
    1/error, which happens with probability at most `error` when the outcomes do follow the law.

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
            foreseen = (1 + self.counts[word]) / (self.words + self.runs)
            self.log_e += log(foreseen) - log(probability)
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

    >>> round(detectable(27, 20_000), 3)
    0.06
    """
    return min(1.0, sqrt((-log(error) + (words - 1) / 2 * log(max(runs, 2))) / (2 * max(runs, 1))))
