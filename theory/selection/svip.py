"""SVIP: stop drafting where the drafter's next-token entropy is large."""

from flint import fmpq

from draftproof.theory.selection.view import Rule, View, in_turn

LARGEST = fmpq(3, 5)
"""sqrt(0.15 H) > 0.3 exactly when the entropy H, in nats, is above 3/5."""


def select(view: View) -> None:
    """Goes on as long as sqrt(0.15 H(q)) <= 0.3 for the row q of the next token."""
    in_turn(view, lambda r: not view.unsure(r, view.prefix(r, view.lengths[r]), LARGEST))


RULE = Rule(
    "svip", "zhang2024svip, Algorithm 1", "kept tokens of the request", predictable=True, select=select
)
