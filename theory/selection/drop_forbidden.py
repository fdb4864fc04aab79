"""Drop a drafted token that has probability zero under the target, as behind a mask, and all that follow it.

A missing draft has two meanings. *Absent*: nothing was drawn, and Y ~ p. *Forbidden*: a token was drawn from
q and cannot be emitted, and Y ~ norm((p - q)+), which every verifier does when it is shown the token. A
forbidden token that is taken out of the draft is refilled from p as if it were absent.
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
