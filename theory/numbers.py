"""Exact numbers: `flint.fmpq` rationals, read exactly as written and never rounded.

In Python `1/1 == 1.0`, so a float that slips into a rational computation goes unnoticed;
`fmpq` refuses to mix with floats, and `exact` refuses to read one.
"""

import re
from fractions import Fraction
from numbers import Integral, Rational

from flint import fmpq, fmpz

from draftproof.theory.errors import BadInput, quoted

Rational.register(fmpq)  # so that `Fraction` takes them
Integral.register(fmpz)

ZERO = fmpq(0)
ONE = fmpq(1)

DIGITS = 1000
"""Largest length of a numerator or denominator in decimal digits; also the largest decimal exponent."""

_NUMBER = re.compile(r"[+-]?(?:\d+/\d+|(?:\d+\.?\d*|\.\d+)(?:[eE]([+-]?\d+))?)", re.ASCII)


def exact(value: object) -> fmpq:
    """The rational given by an fmpq, an int, a Fraction, "num/den", or a decimal string.

    Raises BadInput for floats (they do not keep their decimal spelling), booleans and anything else.

    >>> exact("1/3"), exact("0.1"), exact("2.5e-1"), exact(2), Fraction(exact("2/6"))
    (1/3, 1/10, 1/4, 2, Fraction(1, 3))
    >>> exact(0.1)
    Traceback (most recent call last):
    draftproof.theory.errors.BadInput: 0.1 is a float; write it as a string or a fraction
    """
    if isinstance(value, fmpq):
        return value
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, bool) or not isinstance(value, int | str):
        if isinstance(value, float):
            raise BadInput(f"{value!r} is a float; write it as a string or a fraction")
        raise BadInput(f"{quoted(value)} is not a number")
    if isinstance(value, int):
        return fmpq(value)
    digits = value.lstrip("+-").isdecimal()
    if len(value) > 2 * DIGITS or (digits and len(value) > DIGITS):
        raise BadInput(f"{quoted(value)} has more than {DIGITS} digits")
    match = _NUMBER.fullmatch(value)
    if match is None:
        raise BadInput(f"{quoted(value)} is not a number such as 1/3, 0.25 or 1")
    exponent = match[1] or "0"
    if len(exponent) > 6 or abs(int(exponent)) > DIGITS:
        raise BadInput(f"{quoted(value)} has an exponent beyond {DIGITS}")
    try:
        return fmpq(*Fraction(value).as_integer_ratio())
    except ZeroDivisionError:
        raise BadInput(f"{quoted(value)} divides by zero") from None


class Exact(str):
    """An exact number as text; `Fraction` and `json.dumps` take it, and so does `float`.

    >>> float(Exact("1/4")), Fraction(Exact("1/4"))
    (0.25, Fraction(1, 4))
    """

    __slots__ = ()

    def __float__(self) -> float:
        return float(Fraction(self))


def text(number: fmpq) -> Exact:
    """The number as "num/den", or "num" when it is an integer.

    >>> text(exact("2/4")), text(exact(3))
    ('1/2', '3')
    """
    return Exact(number)


def shown(number: fmpq) -> str:
    """An exact number, or where the fraction is long its decimal value.

    >>> shown(exact("2/4")), shown(exact("0.3333333333333"))
    ('1/2', '~0.333333')
    """
    exactly = text(number)
    return exactly if len(exactly) <= 12 else f"~{float(number):.6g}"
