"""Two siblings of different rows, kept as often as any rule can, in float64 and without a sort."""

import numpy as np

STEPS = 64
"""Steps of the grid of rates on which two siblings are levelled."""


class Levelled:
    """Two siblings, drawn from rows [2, V], kept as often as any rule can; `left` is what that leaves of t.

    `draftproof.theory.verifiers.lifted_levelled` levels the slack of the second sibling's tokens, token by
    token. Here a token of rate r lies between two of STEPS + 1 even rates and counts in part at each. Tokens
    at one rate are alike, so that sums of the rows by rate and a matrix by rates are enough, without a sort.
    """

    def __init__(self, t: np.ndarray, laws: np.ndarray):
        pi = laws.sum(axis=0)
        rate = np.minimum(np.divide(t, pi, out=np.zeros_like(t), where=pi > 0), 1)
        self._place = rate * STEPS
        self._below = np.minimum(self._place.astype(int), STEPS - 1)
        mine, its = (self._sums(law) for law in laws)
        rates = np.arange(STEPS + 1) / STEPS
        self._first, rest = levels(mine, its, rates)
        most = np.minimum(rates, rates + rest)  # of the second sibling's tokens, by rate
        kept = rates + rest  # what the first leaves of them
        self._second = np.divide(most, kept, out=np.ones_like(most), where=kept > 0)
        above = self._place - self._below
        second = (1 - above) * most[self._below] + above * most[self._below + 1]
        self.left = np.maximum(t - laws[0] * self._place / STEPS - laws[1] * second, 0)

    def shares(self, x: int, y: int) -> list[float]:
        """The probability with which each of the drawn tokens is the one kept."""
        i, j = self._parts(x), self._parts(y)
        first = self._first[np.ix_(*(list(each) for each in (i, j)))]
        weights = np.outer(list(i.values()), list(j.values()))
        second = (1 - first) * self._second[list(j)]
        return [float((weights * first).sum()), float((weights * second).sum())]

    def _sums(self, law: np.ndarray) -> np.ndarray:
        above = self._place - self._below
        low = np.bincount(self._below, law * (1 - above), STEPS + 1)
        return low + np.bincount(self._below + 1, law * above, STEPS + 1)

    def _parts(self, x: int) -> dict[int, float]:
        below, above = int(self._below[x]), float(self._place[x] - self._below[x])
        return {below: 1 - above, below + 1: above}


def levels(mine: np.ndarray, its: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(K, rest): K[i, j] is the chance that the first sibling, at rate i, is kept beside the second at rate
    j; `rest` is what that leaves of the slack, 1 - rate, of the second.
    """
    slack, first = 1 - rates, np.zeros((len(rates), len(rates)))
    for i in np.flatnonzero(mine > 0):
        ends = np.sort(np.append(slack, slack - mine[i]))
        parts = np.clip((slack - ends[:, None]) / mine[i], 0, 1)
        means = parts @ its
        at = np.interp(-rates[i], -means, np.arange(len(ends)))  # the mean falls, linearly between two ends
        low = min(int(at), len(ends) - 2)
        first[i] = parts[low] + (at - low) * (parts[low + 1] - parts[low])
        slack = slack - mine[i] * first[i]
    return first, slack
