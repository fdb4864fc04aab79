"""TETRIS' own selection with the law kept: the first dropped token is judged as well.

The row after the last kept token is computed for the extra token in any case. It judges the next drafted
token at no further cost: accepted, that token is the extra token; rejected, Y ~ norm((p - q)+). So a token is
always judged, whatever its value, and its value decides only about the row after it. The same tokens are kept
and as many are emitted as by TETRIS.
"""

from draftproof.theory.selection import tetris
from draftproof.theory.selection.view import Rule

RULE = Rule(
    "tetris-repaired",
    "ours, after wu2025tetris",
    "kept tokens of all requests, and the next one of each, which is judged in any case",
    predictable=True,
    select=tetris.select,
    ahead=True,
)
