"""DSpark that looks past a fall of the throughput: the best number of tokens with all drafts known."""

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from operator import itemgetter

from draftproof.theory.rows import Number
from draftproof.theory.selection.view import Rule, View


def keep_best(view: View, scores: Sequence[Sequence[Number]]) -> None:
    """Keeps the tokens of largest score, as many as make (R + sum of scores) speed[B] largest.

    `scores[r][j]` does not rise with j, so that what is kept of a draft is a prefix.
    """
    tokens = [(score, r) for r, each in enumerate(scores) for score in each]
    order = sorted(tokens, key=itemgetter(0), reverse=True)[: view.capacity]
    tau = accumulate((score for score, _ in order), initial=view.one() * len(scores))
    emitted = [mean * speed for mean, speed in zip(tau, view.speed, strict=False)]
    for _, r in order[: max(range(len(emitted)), key=emitted.__getitem__)]:
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
