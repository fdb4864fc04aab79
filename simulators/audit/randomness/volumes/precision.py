"""Logarithms as rationals: to how many bits, and how."""

from flint import arb, fmpq

BITS = 320
"""Working precision where logarithms enter; results are rounded to it and are not rational."""

Interval = tuple[fmpq, fmpq]


def rational(number: arb) -> fmpq:
    """The middle of a ball as the dyadic rational that it is."""
    mantissa, exponent = number.mid().man_exp()
    mantissa, exponent = int(mantissa), int(exponent)
    return fmpq(mantissa << exponent) if exponent >= 0 else fmpq(mantissa, 1 << -exponent)
