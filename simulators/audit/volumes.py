"""Exact volumes of what is known about several coins together: products and races.

One coin alone is an interval and needs nothing from here. Two situations tie coins together and
still have closed forms: products u_1 .. u_k compared with numbers, and exponentials compared with
multiples of one another.
"""

from functools import lru_cache
from itertools import pairwise
from itertools import product as pairs

from flint import arb, ctx, fmpq

from theory.numbers import ONE, ZERO

BITS = 320
"""Working precision where logarithms enter; results are rounded to it and are not rational."""

Interval = tuple[fmpq, fmpq]


def rational(number: arb) -> fmpq:
    """The middle of a ball as the dyadic rational that it is."""
    mantissa, exponent = number.mid().man_exp()
    mantissa, exponent = int(mantissa), int(exponent)
    return fmpq(mantissa << exponent) if exponent >= 0 else fmpq(mantissa, 1 << -exponent)


@lru_cache(maxsize=65536)
def products(boxes: tuple[Interval, ...], bounds: tuple[Interval, ...]) -> fmpq:
    """The probability that uniforms lie in `boxes` and each product u_1 .. u_k in its bound.

    The density of a product s = r u, u uniform in [a, b), is the integral of g(r)/r over r in
    [s/b, s/a]: pieces that are polynomials in ln s stay pieces that are polynomials in ln s.
    Accurate to about 2^-BITS.

    >>> half = (fmpq(0), fmpq(1, 2))
    >>> round(float(products(((ZERO, ONE), (ZERO, ONE)), ((ZERO, ONE), half))), 6)  # t (1 - ln t)
    0.846574
    """
    with ctx.workprec(BITS):
        first, *others = boxes
        pieces = [(*first, [arb(1)])]
        for bound, box in zip(bounds, [*others, None], strict=True):
            pieces = [(max(lo, bound[0]), min(hi, bound[1]), poly) for lo, hi, poly in pieces]
            pieces = [piece for piece in pieces if piece[0] < piece[1]]
            if box is not None:
                pieces = [new for piece in pieces for new in _times(piece, box)]
        return rational(sum((_mass(*piece) for piece in pieces), arb(0)))


Poly = list[arb]
Piece = tuple[fmpq, fmpq, Poly]


def _times(piece: Piece, box: Interval) -> list[Piece]:
    (lo, hi, g), (a, b) = piece, box
    F = [arb(0), *[c / (j + 1) for j, c in enumerate(g)]]
    cuts = sorted({x * y for x, y in pairs((lo, hi), (a, b))})
    out = []
    for left, right in pairwise(cuts):
        s = (left + right) / 2
        upper = [_at(F, hi)] if s >= hi * a else _shifted(F, -_log(a))
        lower = [_at(F, lo)] if s < lo * b else _shifted(F, -_log(b))
        out.append((left, right, _minus(upper, lower)))
    return out


def _log(x: fmpq) -> arb:
    return arb(x).log()


def _at(poly: Poly, x: fmpq) -> arb:
    value, L = arb(0), _log(x)
    for c in reversed(poly):
        value = value * L + c
    return value


def _shifted(poly: Poly, by: arb) -> Poly:
    # The polynomial in L + by, as one in L.
    out: Poly = []
    for c in reversed(poly):
        raised = [arb(0), *out]
        out = [high + by * low for high, low in zip(raised, [*out, arb(0)], strict=True)]
        out[0] = out[0] + c
    return out


def _minus(a: Poly, b: Poly) -> Poly:
    size = max(len(a), len(b))
    a, b = [*a, *[arb(0)] * (size - len(a))], [*b, *[arb(0)] * (size - len(b))]
    return [x - y for x, y in zip(a, b, strict=True)]


def _mass(lo: fmpq, hi: fmpq, poly: Poly) -> arb:
    return _integral(poly, hi) - _integral(poly, lo)


def _integral(poly: Poly, x: fmpq) -> arb:
    if not x:
        return arb(0)
    L, power, term, out = _log(x), arb(1), arb(0), arb(0)
    for j, c in enumerate(poly):  # the integral of L^j is x L^j - j times that of L^(j-1)
        term = arb(x) * power - j * term
        out, power = out + c * term, power * L
    return out


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
        return _exp(-rates[0][1]) if rates else ONE
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


def _exp(x: fmpq) -> fmpq:
    with ctx.workprec(BITS):
        return rational(arb(x).exp()) if x else ONE


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
