"""DSpark: tokens by the probability that they are reached and accepted, while the throughput rises.

Two rules beside it look past a fall of the throughput: one knows all drafts, which loses the law, the other
takes scores from two calls ago, which no drafted token enters.
"""

from collections.abc import Sequence

from draftproof.theory.rows import Number
from draftproof.theory.selection.view import Rule, View, best_first, product


def dspark(view: View) -> None:
    """Adds the token with the largest product of confidences; stops at the first fall of tau speed[B]."""
    tau = [view.one() * len(view.lengths)]

    def reach(r: int) -> Number:  # c(x_{<1}) .. c(x_{<j}) of the next token j, from tokens before j alone
        confidences = [view.confidence(r, view.prefix(r, j)) for j in range(view.lengths[r] + 1)]
        return product(confidences, view.one())

    def rises(score: Number) -> bool:
        longer = tau[0] + score
        if longer * view.speed[view.kept + 1] < tau[0] * view.speed[view.kept]:
            return False
        tau[0] = longer
        return True

    best_first(view, reach, rises)


def retrospective(view: View) -> None:
    """The best number of tokens with all drafts known, by DSpark's scores of every drafted token."""
    scores = []
    for r in range(len(view.lengths)):
        confidences = [view.confidence(r, view.prefix(r, j)) for j in range(view.drafted(r))]
        scores.append([product(confidences[: j + 1], view.one()) for j in range(len(confidences))])
    keep_best(view, scores)


def lagged(view: View) -> None:
    """The best number of tokens by the scores c^j of token j, where c is the confidence before the draft."""
    scores = []
    for r in range(len(view.lengths)):
        c = view.confidence(r, ())
        scores.append([product([c] * (j + 1), view.one()) for j in range(view.drafted(r))])
    keep_best(view, scores)


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


SELECTION_RULES = (
    Rule(
        "dspark",
        "dspark2026throughput, Algorithm 1",
        "kept tokens of all requests",
        predictable=True,
        select=dspark,
    ),
    Rule(
        "dspark-retrospective",
        "dspark2026throughput, Appendix A",
        "the drafted tokens of all requests",
        predictable=False,
        select=retrospective,
    ),
    Rule("lagged", "dspark2026throughput, Section 4", "earlier calls", predictable=True, select=lagged),
)
