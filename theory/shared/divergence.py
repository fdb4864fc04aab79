"""Divergences of exact laws, as intervals that are narrowed until they decide."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from flint import arb, ctx, fmpq

from draftproof.theory.numbers import ZERO

ERROR = 1e-12
"""A divergence is known to better than this."""


def kl(a: Mapping[Any, fmpq], b: Mapping[Any, fmpq]) -> float:
    """KL(a || b) = sum a log(a / b) in nats, off by less than ERROR; infinite where b has no mass and a has.

    >>> half, third = {0: fmpq(1, 2), 1: fmpq(1, 2)}, {0: fmpq(1, 3), 1: fmpq(2, 3)}
    >>> round(kl(half, third), 6), kl(half, {0: fmpq(1)})
    (0.058892, inf)
    """
    terms = list(_terms(a, b))
    return inf if any(ratio is None for _, ratio in terms) else float(_within(terms, 128))


def exceeds(a: Mapping[Any, fmpq], b: Mapping[Any, fmpq], bound: fmpq) -> bool:
    """Whether KL(a || b) is above a rational bound, decided exactly.

    The divergence of different laws is the logarithm of an algebraic number other than 1, which is
    transcendental, so that some precision decides; of equal laws it is 0.

    >>> half, third = {0: fmpq(1, 2), 1: fmpq(1, 2)}, {0: fmpq(1, 3), 1: fmpq(2, 3)}
    >>> exceeds(half, third, fmpq(1, 20)), exceeds(half, third, fmpq(1, 10)), exceeds(half, half, fmpq(0))
    (True, False, False)
    """
    terms = list(_terms(a, b))
    if any(ratio is None for _, ratio in terms):
        return True
    if all(ratio == 1 for _, ratio in terms):
        return bound < 0
    bits = 64
    while True:
        difference = _within(terms, bits, bound)
        if difference > 0 or difference < 0:
            return bool(difference > 0)
        bits *= 2


def _within(terms: Sequence[tuple[fmpq, Any]], bits: int, bound: fmpq = ZERO) -> arb:
    # The sum less the bound, as an interval that holds it.
    with ctx.workprec(bits):
        return sum((arb(mass) * arb(ratio).log() for mass, ratio in terms), arb(0)) - arb(bound)


def _terms(a: Mapping[Any, fmpq], b: Mapping[Any, fmpq]) -> Iterator[tuple[fmpq, fmpq | None]]:
    # (mass of a, a / b), None where b is 0.
    for key, mass in a.items():
        if mass:
            other = b.get(key)
            yield mass, mass / other if other else None
