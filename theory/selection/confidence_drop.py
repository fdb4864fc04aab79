"""Drop a token of small probability and all that follow it, instead of stopping after that token."""

from draftproof.theory.selection.confidence_stop import THRESHOLD
from draftproof.theory.selection.view import Rule, View, in_turn


def select(view: View) -> None:
    """Goes on as long as the next token has q(x) >= 2/5."""
    in_turn(view, lambda r: not view.probability(r, view.lengths[r]) < THRESHOLD)


RULE = Rule(
    "confidence-drop",
    "ours, confidence-stop off by one",
    "the request's drafted tokens, up to and with the token itself",
    predictable=False,
    select=select,
)
