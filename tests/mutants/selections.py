"""Selection rules that read a value they decide about: the ways in which engines lose the law."""

from collections.abc import Callable
from math import prod

from draftproof.theory.selection.view import Rule, View, best_first, in_turn


def own_value(view: View) -> None:
    """A token is kept if it is token 0."""
    in_turn(view, lambda r: view.token(r, view.lengths[r]) == 0)


def later_value(view: View) -> None:
    """The first token is kept if the token after it is token 0."""
    in_turn(view, lambda r: view.lengths[r] > 0 or view.token(r, view.drafted(r) - 1) == 0)


def later_value_of_another(view: View) -> None:
    """Request 1 is verified, or else request 2, by the last token of request 1."""
    if view.token(0, view.drafted(0) - 1) == 0:
        in_turn(view, lambda r: r == 0)
    else:
        in_turn(view, lambda r: r == 1)


def tie_by_value(view: View) -> None:
    """Shifted TETRIS, but of equal scores the token with the smaller id goes first."""
    while ready := view.open():

        def key(r: int) -> tuple:
            before = prod([view.probability(r, j) for j in range(view.lengths[r])], start=view.one())
            return before, -view.token(r, view.lengths[r])

        view.keep(max(ready, key=key))


def value_as_tie_of_score(view: View) -> None:
    """The score is right, and a nudge by the token's own probability decides only where scores are close."""

    def score(r: int) -> object:
        before = prod([view.probability(r, j) for j in range(view.lengths[r])], start=view.one())
        return before + view.probability(r, view.lengths[r]) / 10**6

    best_first(view, score, lambda best: True)  # type: ignore[arg-type]


SELECTIONS: tuple[Callable[[View], None], ...] = (
    own_value,
    later_value,
    later_value_of_another,
    tie_by_value,
    value_as_tie_of_score,
)


def rule(select: Callable[[View], None], predictable: bool) -> Rule:
    """The mutant as a rule, declared as it is or, wrongly, as predictable."""
    assert select.__doc__
    return Rule(select.__name__, "a mutant", select.__doc__, predictable, select)
