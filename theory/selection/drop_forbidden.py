"""Drops a drafted token that the target forbids (probability zero, for instance under a mask), and the rest.

A draft can be missing for two reasons. *Absent*: nothing was drawn, and Y ~ p is right. *Forbidden*: a token
was drawn from q and cannot be emitted, and Y ~ norm((p - q)+) is right, which every verifier draws when it is
shown the token. This rule takes forbidden tokens out of the draft, and Y ~ p is drawn as if they were absent.
"""

from draftproof.theory.selection.view import Rule, View, in_turn


def select(view: View) -> None:
    """Goes on as long as the next token has p(x) > 0."""
    in_turn(view, lambda r: view.allowed(r, view.lengths[r]))


RULE = Rule(
    "drop-forbidden",
    "kwon2023vllm, structured output with drafts (release 0.33.0)",
    "the request's drafted tokens, up to and with the token itself",
    predictable=False,
    select=select,
)
