"""How a structure is spelled on a command line."""

import re

from gpu.draft import Tree
from gpu.drafters.draft import Structure
from gpu.structures.sampled import Paths, Sampled
from gpu.structures.top_k import TopK
from simulators.instances.files import decoded
from theory.drafts.shape import checked_shape, every
from theory.errors import BadInput, quoted

SPELLINGS = (
    "chain:4, paths:3x4, paths+:3x4, tree:2x3, tree:eagle, tree:[[[],[]],[[]]], tree+:2x3, top-k:8x5x32"
)
MOST = 512
"""Largest number of drafted tokens in a structure."""

EAGLE = [[[[[[], []], [], []], [], []], [[], []], [[], []]], [[[]], []], [[], []], [[]]]
"""The sparse tree of EAGLE (li2024eagle): 25 tokens, most of them below the likeliest first ones."""


def structure(spelling: str) -> Structure:
    """The structure of a spelling; BadInput when it is none.

    chain:GAMMA · paths:KxGAMMA, merged by prefix, and paths+: kept apart · tree:CHILDRENxDEPTH, tree:eagle or
    tree:SHAPE (JSON), drawn without replacement, and tree+: with · top-k:WIDTHxDEPTHxTOKENS, the
    likeliest TOKENS nodes when the WIDTH likeliest of each depth are extended.

    >>> structure("chain:4").size, structure("tree:2x3").size, structure("tree:eagle").depth
    (5, 15, 5)
    """
    kind, _, rest = spelling.partition(":")
    try:
        if kind == "chain":
            (gamma,) = _numbers(rest, 1)
            return Sampled(spelling, Tree.chain(_few(gamma)))
        if kind in ("paths", "paths+"):
            count, gamma = _numbers(rest, 2)
            _few(count * gamma)
            return (
                Paths(spelling, count, gamma)
                if kind == "paths"
                else Sampled(spelling, Tree.paths(count, gamma))
            )
        if kind in ("tree", "tree+"):
            return Sampled(spelling, Tree.of_shape(_shape(rest), replacement=kind == "tree+"))
        if kind == "top-k":
            width, depth, most = _numbers(rest, 3)
            return TopK(spelling, _few(width), _few(depth), _few(most))
    except BadInput as error:
        raise BadInput(f"--draft {quoted(spelling)}: {error}") from None
    except ValueError:
        pass
    raise BadInput(f"--draft {quoted(spelling)}: not a structure; write one like {SPELLINGS}")


def _numbers(text: str, count: int) -> list[int]:
    if not re.fullmatch(r"[1-9]\d{0,5}(x[1-9]\d{0,5})*", text) or text.count("x") != count - 1:
        raise ValueError(text)
    return [int(each) for each in text.split("x")]


def _few(tokens: int) -> int:
    if tokens > MOST:
        raise BadInput(f"{tokens} drafted tokens; at most {MOST}")
    return tokens


def _shape(text: str) -> list | tuple:
    if text == "eagle":
        return EAGLE
    if text.startswith("["):
        return checked_shape(decoded(text))
    children, depth = _numbers(text, 2)
    _few(sum(children**d for d in range(1, min(depth, 10) + 1)))
    _few(depth)
    return every(children, depth)
