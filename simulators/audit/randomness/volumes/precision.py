"""Logarithms as rationals: to how many bits, and how."""

from functools import lru_cache

from flint import arb, ctx, fmpq

from draftproof.theory.numbers import ONE

BITS = 320
"""Working precision where logarithms enter; results are rounded to it and are not rational."""

Interval = tuple[fmpq, fmpq]


def rational(number: arb) -> fmpq:
    """The middle of a ball as the dyadic rational that it is."""
    mantissa, exponent = number.mid().man_exp()
    mantissa, exponent = int(mantissa), int(exponent)
    return fmpq(mantissa << exponent) if exponent >= 0 else fmpq(mantissa, 1 << -exponent)


@lru_cache(maxsize=65536)
def exponential(x: fmpq) -> fmpq:
    """exp(x), exact at 0."""
    with ctx.workprec(BITS):
        return rational(arb(x).exp()) if x else ONE
