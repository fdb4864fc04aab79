"""Exact probabilities of joint constraints on several coins.

Closed forms exist for products u_1 .. u_k compared with numbers (`products`) and for exponentials compared
with multiples of one another (`race`).
"""

from functools import lru_cache
from itertools import pairwise
from itertools import product as pairs

from flint import arb, arb_poly, ctx, fmpq

from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.shared.coins import integral

BITS = 320  # working precision if logarithms are needed; such results are rounded, not rational

Interval = tuple[fmpq, fmpq]
Constraints = frozenset[tuple[int, int, fmpq]]  # E_a >= c E_b for every (a, b, c)


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
        upper = arb_poly([F(arb(hi).log())]) if s >= hi * a else F(arb_poly([-arb(a).log(), 1]))
        lower = arb_poly([F(arb(lo).log())]) if s < lo * b else F(arb_poly([-arb(b).log(), 1]))
        pieces.append((left, right, upper - lower))
    return pieces


def _integral(poly: arb_poly, x: fmpq) -> arb:
    # The integral of poly(ln s) over s in [0, x].
    if not x:
        return arb(0)
    L, power, term, total = arb(x).log(), arb(1), arb(0), arb(0)
    for j, c in enumerate(poly.coeffs()):  # the integral of L^j is x L^j - j times that of L^(j-1)
        term = arb(x) * power - j * term
        total, power = total + c * term, power * L
    return total


@lru_cache(maxsize=65536)
def race(constraints: Constraints) -> fmpq:
    """The probability that independent unit exponentials satisfy every E_a >= c E_b of (a, b, c)."""
    bounds: dict[tuple[int, int], fmpq] = {}
    for a, b, c in constraints:
        bounds[a, b] = max(c, bounds.get((a, b), ZERO))
    return integral(bounds, {name: ONE for pair in bounds for name in pair})
