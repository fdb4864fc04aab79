"""Strata: a row cut into rows of mass 1, one for each sibling, so that likely tokens are drafted for certain.

A design of survey sampling, inclusion with probability proportional to size, used as a draft: K siblings
include the token x pi(x) = min(1, c q(x)) times on average, where sum pi = K. The pi(x) are laid end to end,
the likeliest first, and cut at 1, 2, .., K - 1 (systematic selection, madow1949theory, draws one number for
all cuts). The token that straddles a cut belongs to two strata.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from draftproof.theory.rows import Row, has_mass, likeliest, maximum, minimum, one, point, positive, without
from draftproof.theory.shared.memo import remembered


def inclusion(q: Row, count: int) -> Row:
    """pi(x) = min(1, c q(x)) with sum pi = `count`; 1 for every token of q, if there are not more.

    >>> from draftproof.theory.numbers import exact
    >>> inclusion((exact("2/3"), exact("1/6"), exact("1/6")), 2)
    (1, 1/2, 1/2)
    """
    if isinstance(q, np.ndarray):
        [(order, pi)] = lines(q, [count])
        row = np.zeros(len(q))
        row[order] = pi
        return row
    order = likeliest(q, len(q))
    pi = [one(q) * 0] * len(q)
    sure, rest = min(count, len(order)), order
    while rest and sure * q[rest[0]] >= (mass := sum((q[x] for x in rest[1:]), q[rest[0]])):
        pi[rest[0]], rest, sure = one(q), rest[1:], sure - 1
    for x in rest:
        pi[x] = sure * q[x] / mass
    return tuple(pi)


@remembered(4096)
def strata(q: Row, count: int) -> tuple[Row, ...]:
    """The rows that `count` siblings are drawn from, fewer where q has fewer tokens.

    >>> from draftproof.theory.numbers import exact
    >>> strata((exact("1/2"), exact("1/4"), exact("1/4")), 2)
    ((1, 0, 0), (0, 1/2, 1/2))
    >>> strata((exact("1/3"), exact("1/3"), exact("1/3")), 2)
    ((2/3, 1/3, 0), (0, 1/3, 2/3))
    """
    if isinstance(q, np.ndarray):
        [(order, pi)] = lines(q, [count])
        end, j = np.cumsum(pi), np.arange(min(count, len(order)))[:, None]
        cut = np.zeros((len(j), len(q)))
        cut[:, order] = np.maximum(np.minimum(end, j + 1) - np.maximum(end - pi, j), 0)
        return tuple(cut)
    pi, order = inclusion(q, count), likeliest(q, len(q))
    rows = [[one(q) * 0] * len(q) for _ in range(min(count, len(order)))]
    end = one(q) * 0
    for x in order:
        start, end = end, end + pi[x]
        for j, row in enumerate(rows):
            row[x] = positive(minimum(end, one(q) * (j + 1)) - maximum(start, one(q) * j))
    return tuple(map(tuple, rows))


def lines(q: np.ndarray, counts: Sequence[int]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For each count (order, pi) of a float row [V]: its tokens, likeliest first, and their inclusion
    probabilities; a token is left out where rounding makes its probability 0. Strata are this line, cut at
    1, 2, .., `count` - 1.
    """
    order = np.argsort(-q, kind="stable")
    sizes = q[order := order[q[order] > 0]]
    rest = np.cumsum(sizes[::-1])[::-1]
    for count in counts:
        left = min(count, len(order)) - np.arange(len(order))
        sure = int(np.argmin(np.append((left > 0) & (left * sizes >= rest), False)))
        pi = np.ones(len(order))
        pi[sure:] = left[sure:][:1] * sizes[sure:] / rest[sure:][:1]
        yield order[pi > 0], pi[pi > 0]


def rest_and_top(q: Row, count: int) -> tuple[Row, ...]:
    """The rows of a greedy draft: q without its `count - 1` likeliest tokens, then each of these alone."""
    top = likeliest(q, count - 1)
    rest = without(q, *top)
    return (*((rest,) if has_mass(rest) else ()), *(point(x, q) for x in top))
