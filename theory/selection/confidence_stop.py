"""Stop AFTER a token of small probability: that token is still verified."""

from flint import fmpq

from draftproof.theory.selection.view import Rule, View, in_turn

THRESHOLD = fmpq(2, 5)


def select(view: View) -> None:
    """Goes on as long as the last kept token has q(x) >= 2/5."""
    in_turn(view, lambda r: not view.lengths[r] or not view.probability(r, view.lengths[r] - 1) < THRESHOLD)


RULE = Rule(
    "confidence-stop",
    "wolf2020transformers, assistant_confidence_threshold",
    "kept tokens of the request",
    predictable=True,
    select=select,
)
