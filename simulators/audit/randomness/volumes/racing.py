"""Exponentials compared with multiples of one another and with numbers."""

from functools import lru_cache

from flint import arb, ctx, fmpq

from draftproof.simulators.audit.randomness.volumes.precision import BITS, Interval, exponential, rational
from draftproof.theory.numbers import ONE, ZERO

Constraints = frozenset[tuple[int, int, fmpq]]

UNIT = -1
"""In constraints the name of the number 1: an exponential compared with a constant."""


def interval(name: int, box: Interval, mirrored: bool) -> Constraints:
    """That a coin lies in a box, as constraints on its exponential -log u, or -log(1 - u) if mirrored.

    Logarithms are kept to about 2^-BITS.
    """
    least, most = (1 - box[0], 1 - box[1]) if mirrored else (box[1], box[0])
    found: set[tuple[int, int, fmpq]] = set()
    with ctx.workprec(BITS):
        if least < 1:
            found.add((name, UNIT, rational(-arb(least).log())))
        if most > 0:
            found.add((UNIT, name, rational(-1 / arb(most).log())))
    return frozenset(found)


@lru_cache(maxsize=65536)
def race(constraints: Constraints) -> fmpq:
    """The probability that independent unit exponentials satisfy every E_a >= c E_b of (a, b, c).

    Variables are integrated out one by one; what is left is again of this form, with other rates.
    Where UNIT occurs the answer is not rational, and known to about 2^-BITS.

    >>> race(frozenset({(1, 0, fmpq(2))}))  # E_1 >= 2 E_0
    1/3
    >>> half = (fmpq(0), fmpq(1, 2))
    >>> round(float(race(frozenset({(1, 0, ONE)}) | interval(0, half, False))), 6)  # u_1 < u_0 < 1/2
    0.125
    """
    names = sorted({name for a, b, _ in constraints for name in (a, b)})
    known: dict[tuple[int, int], fmpq] = {}
    for a, b, c in constraints:
        known[a, b] = max(c, known.get((a, b), ZERO))
    return _out(tuple((name, ZERO if name == UNIT else ONE) for name in names), tuple(sorted(known.items())))


@lru_cache(maxsize=65536)
def _out(rates: tuple[tuple[int, fmpq], ...], known: tuple[tuple[tuple[int, int], fmpq], ...]) -> fmpq:
    # The integral of exp(-sum rate E) where the constraints hold.
    bounds = dict(known)
    if any(c * bounds.get((b, a), ZERO) >= 1 for (a, b), c in bounds.items()):
        return ZERO
    if all(name == UNIT for name, _ in rates):
        return exponential(-rates[0][1]) if rates else ONE
    tied = {name: sum(name in pair for pair in bounds) for name, _ in rates if name != UNIT}
    n, rate = min(((name, r) for name, r in rates if name in tied), key=lambda each: (tied[each[0]], each[0]))
    left = {name: r for name, r in rates if name != n}
    lowers = [(b, c) for (a, b), c in bounds.items() if a == n]
    uppers = [(a, 1 / c) for (a, b), c in bounds.items() if b == n]
    rest = {pair: c for pair, c in bounds.items() if n not in pair}
    value = ZERO
    for lower in lowers or [None]:
        for upper in uppers or [None]:
            more = dict(rest)
            _largest(more, lower, lowers)
            _smallest(more, upper, uppers)
            if lower and upper:  # lower <= upper
                if lower[0] == upper[0]:
                    if lower[1] >= upper[1]:
                        continue
                else:
                    _add(more, upper[0], lower[0], lower[1] / upper[1])
            value += _reached(left, more, lower, rate)
            if upper:
                value -= _reached(left, more, upper, rate)
    return value / rate


def _reached(
    left: dict[int, fmpq], more: dict[tuple[int, int], fmpq], end: tuple[int, fmpq] | None, rate: fmpq
) -> fmpq:
    if end:
        left = {**left, end[0]: left[end[0]] + rate * end[1]}
    return _out(tuple(sorted(left.items())), tuple(sorted(more.items())))


def _largest(more: dict, chosen: tuple[int, fmpq] | None, all_: list[tuple[int, fmpq]]) -> None:
    for other in all_:
        if chosen and other[0] != chosen[0]:
            _add(more, chosen[0], other[0], other[1] / chosen[1])


def _smallest(more: dict, chosen: tuple[int, fmpq] | None, all_: list[tuple[int, fmpq]]) -> None:
    for other in all_:
        if chosen and other[0] != chosen[0]:
            _add(more, other[0], chosen[0], chosen[1] / other[1])


def _add(more: dict, a: int, b: int, c: fmpq) -> None:
    more[a, b] = max(c, more.get((a, b), ZERO))
