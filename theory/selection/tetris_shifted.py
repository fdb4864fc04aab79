"""TETRIS shifted by one: the score of a token is the probability of the tokens before it."""

from draftproof.theory.selection.view import Rule, View, best_first, product


def select(view: View) -> None:
    """Keeps the tokens with the largest q(x_1) .. q(x_{j-1}) of the batch."""

    def score(r: int) -> object:
        return product([view.probability(r, j) for j in range(view.lengths[r])], view.one())

    best_first(view, score, lambda best: True)  # type: ignore[arg-type]


RULE = Rule(
    "tetris-shifted",
    "ours, after wu2025tetris",
    "kept tokens of all requests",
    predictable=True,
    select=select,
)
