"""SpecDec++: stop when a rejection among the kept tokens has become likely."""

from flint import fmpq

from draftproof.theory.selection.view import Rule, View, in_turn, product

THRESHOLD = fmpq(7, 10)


def select(view: View) -> None:
    """Goes on as long as 1 - c_1 .. c_j <= 7/10 for the kept tokens, c = min(1, p/q) of the token."""

    def goes_on(r: int) -> bool:
        accepted = [view.acceptance(r, j) for j in range(view.lengths[r])]
        return not 1 - product(accepted, view.one()) > THRESHOLD  # type: ignore[operator]

    in_turn(view, goes_on)


RULE = Rule(
    "specdec++",
    "huang2024specdecpp, Section 3",
    "kept tokens of the request",
    predictable=True,
    select=select,
)
