"""DSpark's best number of tokens with scores from two calls ago, which no drafted token enters."""

from draftproof.theory.selection.dspark_retrospective import keep_best
from draftproof.theory.selection.view import Rule, View


def select(view: View) -> None:
    """The score of token j is c^j, where c is the confidence before the draft."""
    scores = []
    for r in range(len(view.lengths)):
        c = view.confidence(r, ())
        scores.append([c ** (j + 1) for j in range(view.drafted(r))])
    keep_best(view, scores)


RULE = Rule("lagged", "dspark2026throughput, Section 4", "earlier calls", predictable=True, select=select)
