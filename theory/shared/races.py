"""Races of exponentials: the exact law of a target race given the winners of the draft races.

Every token i has K independent Exp(1) variables E_i^(k). Draft k is the token that minimises E_i^(k) / q_i,
and the target token Y minimises min_k E_i^(k) / p_i (rowan2025list), so X^(k) ~ q, i.i.d., and Y ~ p. Given Y
and its time s, every other E_i^(k) exceeds p_i s by an Exp(1) variable (memorylessness). So each draft race
is a race with handicaps p_i s / q_i. Its law is a sum of exponentials in s, and the integral over s is
rational in p and q.
"""

from collections.abc import Callable
from typing import TypeAlias

from draftproof.theory.rows import Number, Row, one
from draftproof.theory.shared.memo import remembered

Decays: TypeAlias = list[tuple[Number, Number]]
"""Pairs (rate a, coefficient c): the function sum c exp(-a s) of the time s."""


@remembered(4096)
def target_law(p: Row, q: Row, drafts: tuple[int, ...]) -> Row:
    """Pr(Y = y, X^(1..K) = drafts) for every y; a row of mass q(x_1) .. q(x_K), not normalised.

    >>> from draftproof.theory.numbers import exact
    >>> target_law((exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3")), (0,))
    (1/3, 1/3)
    """
    K, winner = len(drafts), _race(p, q)
    zero = p[0] - p[0]
    free = {x: winner(x, None) for x in drafts}
    row = []
    for y, mass in enumerate(p):
        out = zero
        if mass > 0:
            for k, x in enumerate(drafts):
                function = winner(x, y)
                for other in (*drafts[:k], *drafts[k + 1 :]):
                    function = [(a + b, c * d) for a, c in function for b, d in free[other]]
                for rate, factor in function:
                    out = out + factor / (K + rate)
        row.append(mass * out)
    return tuple(row)


def _race(p: Row, q: Row) -> Callable[[int, int | None], Decays]:
    # The draft race after target time s; its tokens are sorted by the earliest time they can win.
    order = sorted((x for x in range(len(q)) if q[x] > 0), key=lambda x: p[x] / q[x])
    place = {x: n for n, x in enumerate(order)}
    rates: list[Number] = []  # accumulated hazard when the n-th token enters, in units of s
    masses: list[Number] = []  # hazard rate from then on
    P = Q = zero = p[0] - p[0]
    for x in order:
        P, Q = P + p[x], Q + q[x]
        rates.append(Q * (p[x] / q[x]) - P)
        masses.append(Q)

    def winner(x: int, y: int | None) -> Decays:
        # The probability that x wins, as a function of s. `y` is the target token if this race's noise
        # decided it, else None; if given, the race ends where y enters.
        if x == y:
            return [(rates[place[x]], one(p))]
        end = len(rates) if y is None else place.get(y, len(rates))
        out, before = [], zero
        for n in range(place[x], end):
            weight = q[x] / masses[n]
            out.append((rates[n], weight - before))
            before = weight
        if end < len(rates):  # the last token's hazard never ends
            out.append((rates[end], -before))
        return out

    return winner
