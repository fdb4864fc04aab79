"""What token verification can cost beside block verification at most, over all p and q.

Let r = p / q at each drafted token, so that E_q[r] <= 1. Block verification keeps prefixes with
w <- min(1, w r), token verification with a <- a min(1, r), and w is a supermartingale in [0, 1]. So the
supremum of (1 + E[sum of w]) / (1 + E[sum of a]) is a control problem: choose the law of the next w', of
mean at most w; then a' = a min(1, w' / w). With c fixed and n tokens to go let V_n(w, a) be the supremum of
E[sum of w' - c a']. Weak duality gives for every price t >= 0 of the mean

    V_n(w, a) <= t w + max(P_n(a/w, t), Q_n(a, t)),
    P_n(s, t) = max over w of (1 - c s - t) w + V_{n-1}(w, s w)       for lower w',
    Q_n(a, t) = max over w >= a of (1 - t) w - c a + V_{n-1}(w, a)    for others.

V_n(w, a) is convex in a, so P and Q are jointly convex, and P falls in s. Hence bounds at points of a grid
are bounds between them, by interpolation, and over a cell of w with prices t_0 and t_1 at its ends the bound
is at most its chord + |cell| (t_0 - t_1)+ / 4, the last for the product t w. All numbers are whole multiples
of 2^-33 in 64 bits, rounded up, so that the bound is a rational and no float is trusted.

docs/prices.md has the proof.
"""

import numpy as np
from flint import fmpq

CELLS = 192
"""Cells of w, finer towards 0 and 1; positions are multiples of 2^-12."""

GRID = 128
"""Cells of s and of a; points between the grid's are multiples of 2^-19."""

BITS = 17
"""Prices t are multiples of 2^-21; in the tables they stand 2^BITS of them apart, 1/16."""

NEAR = {1: 16384, 2: 18919, 3: 21066, 4: 22962, 5: 24728, 6: 26462, 7: 28145, 8: 29796}
"""gamma -> 2^14 c: the bound holds for every c and is tight for one just above the supremum."""

Ends = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The positions w [cells] of one end of each cell, and bounds of P and Q there [cells, prices]."""


def token_against_block(gamma: int) -> fmpq:
    """A rational that (1 + E[tau] of block) / (1 + E[tau] of token) never exceeds, for gamma of `NEAR`.

    For every c the ratio is at most c + (1 - c + V_gamma(1, 1))+, since 1 + E[tau] is at least 1.

    >>> 9 / 7 < float(token_against_block(3)) < 9 / 7 + 1e-3
    True
    """
    c, prices = NEAR[gamma], 16 * (gamma + 1) + 1
    w = np.unique([(3 * CELLS - 2 * n) * n * n * 4096 // CELLS**3 for n in range(CELLS + 1)])
    P = Q = np.zeros((GRID + 1, prices), np.int64)
    for n in range(gamma):
        below, level = [], []
        for m in range(GRID + 1):  # s or a is m / GRID
            row = np.tile(P[m], (len(w) - 1, 1)), np.tile(Q[m], (len(w) - 1, 1))
            low, high = ((x, row[0], _between(Q, m * x)) for x in (w[:-1], w[1:]))
            below.append(_conjugate(low, high, (1 << 21) - c * m, 0, n))
            kept = w[1:] >= 4096 // GRID * m
            x, y = np.maximum(w[:-1], 4096 // GRID * m)[kept], w[1:][kept]
            # A line below a / w, its tangent at the middle of the cell.
            s = [(m * (x + y - end) << 26) // (x + y) ** 2 for end in (x, y)]
            low, high = ((at, _between(P, s[i]), row[1][kept]) for i, at in enumerate((x, y)))
            level.append(_conjugate(low, high, 1 << 21, (c * m) << 12, n))
        P, Q = np.array(below), np.array(level)
    bound = _least(np.array([4096]), P[-1:], Q[-1:])[0].item()
    return fmpq(c, 2**14) + max(1 - fmpq(c, 2**14) + fmpq(bound, 2**33), fmpq(0))


def _between(table: np.ndarray, x: np.ndarray) -> np.ndarray:
    # The rows of a table at points x, multiples of 2^-19, rounded up.
    k = np.minimum(x >> 12, GRID - 1)
    part = (x - (k << 12))[:, None]
    return -(-(table[k] * (4096 - part) + table[k + 1] * part) >> 12)


def _at(end: Ends, k: np.ndarray, part: np.ndarray) -> np.ndarray:
    # t w + max(P, Q) at prices t = k / 16 + part / 2^21, rounded up.
    x, P, Q = end
    cells = np.arange(len(x))
    P, Q = ((table[cells, k] << BITS) + (table[cells, k + 1] - table[cells, k]) * part for table in (P, Q))
    return ((k << BITS) + part) * x - (-np.maximum(P, Q) >> BITS)


def _least(x: np.ndarray, P: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # The least of t w + max(P, Q) over t, and its t in units of 2^-21.
    best = np.argmin(np.maximum(P, Q) + (np.arange(P.shape[1]) << BITS) * x[:, None], axis=1)
    found, cells = [], np.arange(len(x))
    for k in (np.maximum(best - 1, 0), np.minimum(best, P.shape[1] - 2)):
        first, second = (P - Q)[cells, k], (P - Q)[cells, k + 1]
        crossing = (first << BITS) // np.where(first == second, 1, first - second)
        part = np.where((first > 0) != (second > 0), crossing, (best - k) << BITS)
        found.append((_at((x, P, Q), k, part), (k << BITS) + part))
    (value, t), (other, u) = found
    return np.minimum(value, other), np.where(value <= other, t, u)


def _conjugate(low: Ends, high: Ends, slope: int, less: int, n: int) -> np.ndarray:
    # For every price t of the tables the maximum over cells of (slope - t) w - less + V_n(w).
    x, y = low[0], high[0]
    ends = np.zeros((2, len(x)), np.int64)
    if n:
        (first, t), (second, u) = _least(*low), _least(*high)
        ends = np.array([first, second]) - (-np.maximum(t - u, 0) * (y - x) >> 2)
        for price in (t, u):
            k = np.minimum(price >> BITS, low[1].shape[1] - 2)
            same = np.array([_at(end, k, price - (k << BITS)) for end in (low, high)])
            ends = np.where(same.sum(0) < ends.sum(0), same, ends)
    w = np.concatenate([x, y])
    prices = np.arange(low[1].shape[1]) << BITS
    return ((ends.ravel() + slope * w - less)[:, None] - prices * w[:, None]).max(0)
