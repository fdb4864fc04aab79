"""An anytime-valid test that counts come from a given exact law."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, lgamma, log

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
