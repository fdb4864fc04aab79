"""TETRIS with dropped tokens refilled: each request keeps its law, but the joint law of the batch is lost.

K_j is the set of tokens that would have been kept in place of the j-th, all other drafts the same. A kept
token is accepted with min(1, p/q), and Y ~ norm((p - q 1_K)+) at a rejected and at a dropped token. Given
the other drafts K_j is fixed, so that the request's law is right. But K_j tells which other drafts were kept,
and where a rejected token is not the last one of K_j the residual depends on them: from three tokens on.
"""

from itertools import accumulate
from operator import mul

from draftproof.theory.rows import Number
from draftproof.theory.selection import tetris
from draftproof.theory.selection.view import Rule, View, product


def threshold(view: View, r: int, j: int) -> tuple[Number, bool]:
    """(number, equal): K_j of request r has every y with q(y) above the number and, if `equal`, every y with
    q(y) equal to it.

    TETRIS keeps the `capacity` tokens of largest score of the batch, of equal scores the first request's. The
    j tokens before y have scores no lower than its own. So y is kept if it comes before the other requests'
    token number capacity - j.
    """
    places, others = view.capacity - j, []
    if places < 1:
        return view.one(), False
    for s in range(len(view.lengths)):
        chosen = [view.probability(s, i) for i in range(view.drafted(s) if s != r else 0)]
        others += [(score, -s) for score in accumulate(chosen, mul)]
    if len(others) < places:
        return 0 * view.one(), False
    score, s = sorted(others, reverse=True)[places - 1]
    return score / product([view.probability(r, i) for i in range(j)], view.one()), r < -s


RULE = Rule(
    "tetris-refill",
    "ours, after wu2025tetris",
    tetris.RULE.reads,
    predictable=False,
    select=tetris.select,
    refill=True,
)
