"""SVIP: stop drafting where the drafter's next-token entropy is large."""

from flint import arb, ctx, fmpq

from draftproof.theory.rows import Row
from draftproof.theory.selection.view import Rule, View, in_turn

LARGEST = fmpq(3, 5)
"""sqrt(0.15 H) > 0.3 exactly when the entropy H, in nats, is above 3/5."""


def above(row: Row, bound: fmpq) -> bool:
    """Whether the entropy of a rational row is above a positive rational bound, decided by intervals.

    The entropy is 0 or the logarithm of an algebraic number, so it is never equal to the bound, and some
    precision decides.

    >>> above((fmpq(1, 2), fmpq(1, 2)), LARGEST), above((fmpq(1, 4), fmpq(3, 4)), LARGEST)
    (True, False)
    """
    precision = 64
    while True:
        with ctx.workprec(precision):
            difference = sum((-arb(mass) * arb(mass).log() for mass in row if mass > 0), arb(0)) - arb(bound)
            if difference > 0 or difference < 0:
                return bool(difference > 0)
        precision *= 2


def select(view: View) -> None:
    """Goes on as long as sqrt(0.15 H(q)) <= 0.3 for the row q of the next token."""
    in_turn(view, lambda r: not above(view.models[r][1][view.prefix(r)], LARGEST))


RULE = Rule(
    "svip", "zhang2024svip, Algorithm 1", "kept tokens of the request", predictable=True, select=select
)
