"""Products of uniforms compared with numbers."""

from functools import lru_cache
from itertools import pairwise
from itertools import product as pairs

from flint import arb, ctx, fmpq

from draftproof.simulators.audit.randomness.volumes.precision import BITS, Interval, rational


@lru_cache(maxsize=65536)
def products(boxes: tuple[Interval, ...], bounds: tuple[Interval, ...]) -> fmpq:
    """The probability that uniforms lie in `boxes` and each product u_1 .. u_k in its bound.

    The density of a product s = r u, u uniform in [a, b), is the integral of g(r)/r over r in
    [s/b, s/a]: pieces that are polynomials in ln s stay pieces that are polynomials in ln s.
    Accurate to about 2^-BITS.

    >>> from draftproof.theory.numbers import ONE, ZERO
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
