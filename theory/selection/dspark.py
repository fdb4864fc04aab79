"""DSpark: tokens by the probability that they are reached and accepted, while the throughput rises."""

from math import prod

from draftproof.theory.rows import Number
from draftproof.theory.selection.view import Rule, View, best_first


def reach(view: View, r: int) -> Number:
    """The product c(x_{<1}) .. c(x_{<j}) for the next token j of request r; only tokens before j are read."""
    return prod([view.confidence(r, view.prefix(r, j)) for j in range(view.lengths[r] + 1)], start=view.one())


def select(view: View) -> None:
    """Adds the token with the largest product of confidences; stops at the first fall of tau speed[B]."""
    tau = [view.one() * len(view.lengths)]

    def rises(score: Number) -> bool:
        longer = tau[0] + score
        if longer * view.speed[view.kept + 1] < tau[0] * view.speed[view.kept]:
            return False
        tau[0] = longer
        return True

    best_first(view, lambda r: reach(view, r), rises)


RULE = Rule(
    "dspark",
    "dspark2026throughput, Algorithm 1",
    "kept tokens of all requests",
    predictable=True,
    select=select,
)
