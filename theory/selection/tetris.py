"""TETRIS: the likeliest prefixes of the whole batch, and three rules made of it.

The score of a token contains its own probability, so that TETRIS loses the law. *Shifted*, the score is that
of the tokens before. *Repaired*, the first dropped token is judged as well: the row after the last kept token
is computed for the extra token in any case, and judges the next drafted token for nothing. Accepted, that
token is the extra token; rejected, Y ~ norm((p - q)+). A token is then always judged, whatever its value,
which decides only about the row after it; the same tokens are kept and as many are emitted as by TETRIS.

*Refilled*, each request keeps its law, but the batch does not keep its joint law. K_j is the set of tokens
that would have been kept in place of the j-th, all other drafts the same. A kept token is accepted with
min(1, p/q), and Y ~ norm((p - q 1_K)+) at a rejected and at a dropped token. Given the other drafts K_j is
fixed, so that the request's law is right. But K_j tells which other drafts were kept, and where a rejected
token is not the last one of K_j the residual depends on them: from three tokens on.
"""

from functools import partial

from draftproof.theory.selection.view import Rule, View, best_first, product


def likeliest_prefixes(view: View, own: bool = True) -> None:
    """Keeps the tokens with the largest q(x_1) .. q(x_j) of the batch, of which `own` includes q(x_j)."""

    def score(r: int) -> object:
        return product([view.probability(r, j) for j in range(view.lengths[r] + own)], view.one())

    best_first(view, score, lambda best: True)  # type: ignore[arg-type]


KEPT = "kept tokens of all requests"
ALSO_NEXT = "the drafted tokens of all requests, up to and with the token itself"

SELECTION_RULES = (
    Rule("tetris", "wu2025tetris, Algorithm 1", ALSO_NEXT, predictable=False, select=likeliest_prefixes),
    Rule(
        "tetris-shifted",
        "ours, after wu2025tetris",
        KEPT,
        predictable=True,
        select=partial(likeliest_prefixes, own=False),
    ),
    Rule(
        "tetris-repaired",
        "ours, after wu2025tetris",
        f"{KEPT}, and the next one of each, which is judged in any case",
        predictable=True,
        select=likeliest_prefixes,
        ahead=True,
    ),
    Rule(
        "tetris-refill",
        "ours, after wu2025tetris",
        ALSO_NEXT,
        predictable=False,
        select=likeliest_prefixes,
        refill=True,
    ),
)
