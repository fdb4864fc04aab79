"""TETRIS with dropped tokens refilled: each request keeps its law, but the joint law of the batch is lost.

K_j is the set of tokens that would have been kept in place of the j-th, all other drafts the same. A kept
token is accepted with min(1, p/q), and Y ~ norm((p - q 1_K)+) at a rejected and at a dropped token. Given
the other drafts K_j is fixed, so that the request's law is right. But K_j tells which other drafts were kept,
and where a rejected token is not the last one of K_j the residual depends on them: from three tokens on.
"""

from draftproof.theory.selection import tetris
from draftproof.theory.selection.view import Rule

RULE = Rule(
    "tetris-refill",
    "ours, after wu2025tetris",
    tetris.RULE.reads,
    predictable=False,
    select=tetris.select,
    refill=True,
)
