"""Exact probabilities of joint constraints on several coins.

Closed forms exist for products u_1 .. u_k compared with numbers (`products`) and for exponentials compared
with multiples of one another (`race`).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from itertools import product as pairs

from flint import arb, arb_poly, ctx, fmpq

from draftproof.theory.numbers import ONE, ZERO

BITS = 320  # working precision if logarithms are needed; such results are rounded, not rational

Interval = tuple[fmpq, fmpq]
Constraints = frozenset[tuple[int, int, fmpq]]  # E_a >= c E_b for every (a, b, c)
End = tuple[int, fmpq]  # a bound c E_name of another variable


def rational(number: arb) -> fmpq:
    """The midpoint of a ball as a rational."""
    mantissa, exponent = map(int, number.mid().man_exp())
    return fmpq(mantissa << exponent) if exponent >= 0 else fmpq(mantissa, 1 << -exponent)


@lru_cache(maxsize=65536)
def exponential(x: fmpq) -> fmpq:
    """exp(x), exact at 0."""
    with ctx.workprec(BITS):
        return rational(arb(x).exp()) if x else ONE


@lru_cache(maxsize=65536)
def products(boxes: tuple[Interval, ...], bounds: tuple[Interval, ...]) -> fmpq:
    """The probability that uniforms lie in `boxes` and each product u_1 .. u_k in its bound (to 2^-BITS).

    The density of s = r u, u uniform in [a, b), is the integral of g(r)/r over r in [s/b, s/a]: pieces that
    are polynomials in ln s stay such pieces.
    """
    with ctx.workprec(BITS):
        first, *others = boxes
        pieces = [(*first, arb_poly([1]))]
        for bound, box in zip(bounds, [*others, None], strict=True):
            pieces = [(max(lo, bound[0]), min(hi, bound[1]), density) for lo, hi, density in pieces]
            pieces = [piece for piece in pieces if piece[0] < piece[1]]
            if box is not None:
                pieces = [new for piece in pieces for new in _times(*piece, box)]
        return rational(sum((_integral(g, hi) - _integral(g, lo) for lo, hi, g in pieces), arb(0)))


def _times(lo: fmpq, hi: fmpq, density: arb_poly, box: Interval) -> list[tuple[fmpq, fmpq, arb_poly]]:
    # The pieces of the density of r u, r with this density on [lo, hi), u uniform in the box [a, b).
    a, b = box
    F = density.integral()
    cuts = sorted({x * y for x, y in pairs((lo, hi), (a, b))})
    pieces = []
    for left, right in pairwise(cuts):
        s = (left + right) / 2
        upper = arb_poly([F(_log(hi))]) if s >= hi * a else F(arb_poly([-_log(a), 1]))
        lower = arb_poly([F(_log(lo))]) if s < lo * b else F(arb_poly([-_log(b), 1]))
        pieces.append((left, right, upper - lower))
    return pieces


def _log(x: fmpq) -> arb:
    return arb(x).log()


def _integral(poly: arb_poly, x: fmpq) -> arb:
    # The integral of poly(ln s) over s in [0, x].
    if not x:
        return arb(0)
    L, power, term, total = _log(x), arb(1), arb(0), arb(0)
    for j, c in enumerate(poly.coeffs()):  # the integral of L^j is x L^j - j times that of L^(j-1)
        term = arb(x) * power - j * term
        total, power = total + c * term, power * L
    return total


@lru_cache(maxsize=65536)
def race(constraints: Constraints) -> fmpq:
    """The probability that independent unit exponentials satisfy every E_a >= c E_b of (a, b, c).

    Variables are integrated out one by one; the rest is again a problem of this form, with other rates.
    """
    names = sorted({name for a, b, _ in constraints for name in (a, b)})
    bounds: dict[tuple[int, int], fmpq] = {}
    for a, b, c in constraints:
        _tighten(bounds, a, b, c)
    return _integrated(tuple((name, ONE) for name in names), tuple(sorted(bounds.items())))


@lru_cache(maxsize=65536)
def _integrated(rates: tuple[tuple[int, fmpq], ...], known: tuple[tuple[tuple[int, int], fmpq], ...]) -> fmpq:
    # The integral of exp(-sum rate E) over the constraints' region: over one E first, then over the others.
    bounds = dict(known)
    if any(c * bounds.get((b, a), ZERO) >= 1 for (a, b), c in bounds.items()):
        return ZERO
    if not rates:
        return ONE
    tied = {name: sum(name in pair for pair in bounds) for name, _ in rates}
    n, rate = min(rates, key=lambda each: (tied[each[0]], each[0]))
    left = {name: r for name, r in rates if name != n}
    lowers = [(b, c) for (a, b), c in bounds.items() if a == n]
    uppers = [(a, 1 / c) for (a, b), c in bounds.items() if b == n]
    rest = {pair: c for pair, c in bounds.items() if n not in pair}

    def ending_at(end: End | None, more: dict[tuple[int, int], fmpq]) -> fmpq:
        others = left | ({end[0]: left[end[0]] + rate * end[1]} if end else {})
        return _integrated(tuple(sorted(others.items())), tuple(sorted(more.items())))

    value = ZERO
    for lower, upper in pairs(lowers or [None], uppers or [None]):  # the largest, and the smallest
        if lower and upper and lower[0] == upper[0] and lower[1] >= upper[1]:
            continue  # E_n cannot lie between them
        more = _where(lower, upper, lowers, uppers, rest)
        value += ending_at(lower, more)
        value -= ending_at(upper, more) if upper else ZERO
    return value / rate


def _where(
    lower: End | None,
    upper: End | None,
    lowers: Sequence[End],
    uppers: Sequence[End],
    rest: Mapping[tuple[int, int], fmpq],
) -> dict[tuple[int, int], fmpq]:
    # The constraints on the others where these are the largest lower and the smallest upper bound.
    ordered = [(lower, each) for each in lowers if lower] + [(each, upper) for each in uppers if upper]
    more = dict(rest)
    for larger, smaller in [*ordered, (upper, lower)]:
        if larger and smaller and larger[0] != smaller[0]:
            _tighten(more, larger[0], smaller[0], smaller[1] / larger[1])
    return more


def _tighten(bounds: dict[tuple[int, int], fmpq], a: int, b: int, c: fmpq) -> None:
    bounds[a, b] = max(c, bounds.get((a, b), ZERO))
