"""Sets of signs: what may be known of a number when its value is not."""

from flint import fmpq

NEGATIVE, ZERO, POSITIVE = 1, 2, 4
"""A set of signs is the sum of those it contains."""
ANY = NEGATIVE | ZERO | POSITIVE


def sign(number: fmpq) -> int:
    """The set that holds the sign of a number."""
    return POSITIVE if number > 0 else NEGATIVE if number < 0 else ZERO


def flip(signs: int) -> int:
    """The signs of minus a number.

    >>> flip(NEGATIVE | ZERO) == POSITIVE | ZERO
    True
    """
    return (signs & ZERO) | (POSITIVE if signs & NEGATIVE else 0) | (NEGATIVE if signs & POSITIVE else 0)


def times(a: int, b: int) -> int:
    """The signs that a product may have."""
    out = ZERO if (a | b) & ZERO else 0
    if (a & POSITIVE and b & POSITIVE) or (a & NEGATIVE and b & NEGATIVE):
        out |= POSITIVE
    if (a & POSITIVE and b & NEGATIVE) or (a & NEGATIVE and b & POSITIVE):
        out |= NEGATIVE
    return out


def raised(signs: int, power: int) -> int:
    """The signs that a power may have."""
    if power % 2:
        return signs
    return (signs & ZERO) | (POSITIVE if signs & (POSITIVE | NEGATIVE) else 0)
