"""Where a token first stands among the children of a node: (token x, place j from 0, probability).

One law for each way of drawing. Of the SpecHub pair only whether x is in it is said, as j = 0.
"""

from collections.abc import Iterator
from typing import TypeAlias

from flint import fmpq

from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Row, has_mass, likeliest, supported, without
from draftproof.theory.transport import draws

Drawn: TypeAlias = Iterator[tuple[int, int, fmpq]]


def with_replacement(q: Row, count: int) -> Drawn:
    """i.i.d. siblings: q (1 - q)^j."""
    for x, mass in enumerate(q):
        for j in range(count):
            yield x, j, mass * (1 - mass) ** j


def without_replacement(q: Row, count: int) -> Drawn:
    """q(x) over what the j tokens before it left, on average over them.

    >>> from draftproof.theory.numbers import exact
    >>> list(without_replacement((exact("1/3"), exact("2/3")), 2))
    [(0, 0, 1/3), (1, 0, 2/3), (0, 1, 2/3), (1, 1, 1/3)]
    """
    for j in range(min(count, supported(q))):
        before = draws.without_replacement(q, j) if j else {frozenset[int](): ONE}
        for x, mass in enumerate(q):
            odds = (part / (1 - sum((q[y] for y in t), ZERO)) for t, part in before.items() if x not in t)
            yield x, j, mass * sum(odds, ZERO)


def top(q: Row, count: int) -> Drawn:
    """The likeliest tokens, always."""
    return ((x, j, ONE) for j, x in enumerate(likeliest(q, count)))


def greedy(q: Row, count: int) -> Drawn:
    """Hu et al.'s draft: the likeliest always, before them one sampled from the others, if any."""
    tops = likeliest(q, count - 1)
    rest = without(q, *tops)
    yield from ((x, 0, mass) for x, mass in enumerate(rest))
    yield from ((x, j, ONE) for j, x in enumerate(tops, int(has_mass(rest))))


def hub(q: Row, count: int) -> Drawn:
    """The SpecHub pair: the hub a always, beside it norm(q off a)."""
    (a,) = likeliest(q, 1)
    yield a, 0, ONE
    yield from ((x, 0, mass) for x, mass in enumerate(without(q, a)))
