"""DSpark that looks past a fall of the throughput: the best number of tokens with all drafts known."""

from collections.abc import Sequence
from math import prod

from draftproof.theory.rows import Number
from draftproof.theory.selection.view import Rule, View


def keep_best(view: View, scores: Sequence[Sequence[Number]]) -> None:
    """Keeps the tokens of largest score, as many as make (R + sum of scores) speed[B] largest.

    scores[r][j] does not rise with j, so that what is kept of a draft is a prefix.
    """
    order = []
    while len(order) < view.capacity:
        at = [order.count(r) for r in range(len(scores))]
        ready = [r for r, each in enumerate(scores) if at[r] < len(each)]
        if not ready:
            break
        order.append(max(ready, key=lambda r: scores[r][at[r]]))
    tau = view.one() * len(scores)
    best, most = 0, tau * view.speed[0]
    for count, r in enumerate(order, 1):
        tau = tau + scores[r][order[: count - 1].count(r)]
        if tau * view.speed[count] > most:
            best, most = count, tau * view.speed[count]
    for r in order[:best]:
        view.keep(r)


def select(view: View) -> None:
    """Scores as DSpark does, of every drafted token."""
    scores = []
    for r in range(len(view.lengths)):
        confidences = [view.confidence(r, view.prefix(r, j)) for j in range(view.drafted(r))]
        scores.append([prod(confidences[: j + 1], start=view.one()) for j in range(len(confidences))])
    keep_best(view, scores)


RULE = Rule(
    "dspark-retrospective",
    "dspark2026throughput, Appendix A",
    "the drafted tokens of all requests",
    predictable=False,
    select=select,
)
