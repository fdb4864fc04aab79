"""The same number of tokens of every request: its share of the capacity."""

from draftproof.theory.selection.view import Rule, View, in_turn


def select(view: View) -> None:
    """Keeps capacity // R tokens of each of R requests."""
    share = view.capacity // len(view.lengths)
    in_turn(view, lambda r: view.lengths[r] < share)


RULE = Rule("fixed", "leviathan2023fast, Section 3.5", "nothing", predictable=True, select=select)
