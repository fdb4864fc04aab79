"""TETRIS: the likeliest prefixes of the whole batch. The score of a token contains its own probability."""

from math import prod

from draftproof.theory.selection.view import Rule, View, best_first


def select(view: View) -> None:
    """Keeps the tokens with the largest q(x_1) .. q(x_j) of the batch."""

    def score(r: int) -> object:
        return prod([view.probability(r, j) for j in range(view.lengths[r] + 1)], start=view.one())

    best_first(view, score, lambda best: True)  # type: ignore[arg-type]


RULE = Rule(
    "tetris",
    "wu2025tetris, Algorithm 1",
    "the drafted tokens of all requests, up to and with the token itself",
    predictable=False,
    select=select,
)
