"""Parses names of verifiers and drafts without importing torch, which takes seconds."""

from math import prod
from typing import Any

from draftproof.theory.drafts.names import numbers, shape
from draftproof.theory.drafts.shape import inner
from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.verifiers import VERIFIERS as EXACT

VERIFIERS = tuple(name for name, each in EXACT.items() if each.batched)
"""The names in `draftproof.gpu.verify.VERIFIERS`."""

DRAFTS = (
    "chain:4, paths:3x4, paths+:3x4, tree:2x3, tree:eagle, tree:[[[],[]],[[]]], tree+:2x3, strata:2x3, "
    "top-k:8x5x32, ddtree:32x7"
)

SELECTIONS = "all", "confidence-stop", "dspark", "tetris", "tetris-repaired"
"""Rules of theory/selection that the engine runs."""

NUMBERS = {"chain": 1, "paths": 2, "paths+": 2, "top-k": 3, "ddtree": 2}
"""How many numbers a structure's name has, by its kind."""

MOST_DRAFTED = 512  # largest number of drafted tokens in a structure


def draft(spelling: str) -> tuple[str, Any]:
    """(kind, numbers or shape) of a structure's name; BadInput if the name is not a structure.

    chain:GAMMA · paths:KxGAMMA, merged by prefix, or paths+:KxGAMMA, not merged · tree:CHILDRENxDEPTH,
    tree:eagle or tree:SHAPE (JSON), drawn without replacement, or tree+:..., drawn with replacement, or
    strata:..., child j from stratum j ·
    top-k:WIDTHxDEPTHxTOKENS, the likeliest TOKENS nodes if the WIDTH likeliest of each depth are extended ·
    ddtree:TOKENSxDEPTH, the likeliest TOKENS nodes: top-k:TOKENSxDEPTHxTOKENS.

    >>> draft("paths+:3x4"), draft("tree:2x1")
    (('paths+', [3, 4]), ('tree', ((), ())))
    """
    kind, _, rest = spelling.partition(":")
    try:
        if kind in ("tree", "tree+", "strata"):
            given = shape(rest)
            _few(sum(inner(given)))
            return kind, given
        if kind in NUMBERS:
            given = [_few(each) for each in numbers(rest, NUMBERS[kind])]
            _few(prod(given) if kind in ("paths", "paths+") else 0)
            return kind, given
    except BadInput as error:
        raise BadInput(f"--draft {quoted(spelling)}: {error}") from None
    except ValueError:
        pass
    raise BadInput(f"--draft {quoted(spelling)}: not a structure; write one like {DRAFTS}")


def _few(tokens: int) -> int:
    if tokens > MOST_DRAFTED:
        raise BadInput(f"{tokens} drafted tokens; at most {MOST_DRAFTED}")
    return tokens
