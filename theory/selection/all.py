"""Everything that was drafted, one token of each request in turn until the capacity is used up."""

from draftproof.theory.selection.view import Rule, View, in_turn


def select(view: View) -> None:
    """Keeps every token."""
    in_turn(view, lambda r: True)


RULE = Rule("all", "leviathan2023fast, Algorithm 1", "nothing", predictable=True, select=select)
