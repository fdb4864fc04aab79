"""Drafts in one word, accepted wherever a draft is asked for.

`chain:GAMMA` · `paths:KxGAMMA` · `tree:CHILDRENxDEPTH` (`tree:` without replacement, `tree+:` with) ·
`top-k:`, `greedy:` and `strata:` like `tree:` · `best-first:NODESxDEPTH` and `ddtree:` likewise ·
`spechub:GAMMA`. A tree's shape may also be spelled out, as in an instance file, `tree:[[[],[]],[[]]]`, or be
`eagle`.
"""

import json
import re
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from draftproof.theory.drafts import SCHEMES, Scheme
from draftproof.theory.drafts.shape import DEPTH, NODES, Shape, checked_shape, every
from draftproof.theory.errors import BadInput, quoted, whole

EXAMPLES = (
    "chain:4, paths:3x4, tree:2x3, tree+:2x3, tree:[[[],[]],[[]]], top-k:2x2, greedy:3x1, strata:4x2, "
    "best-first:8x4, ddtree:8x4, spechub:2"
)

EAGLE = [[[[[[], []], [], []], [], []], [[], []], [[], []]], [[[]], []], [[], []], [[]]]
"""The sparse tree of EAGLE (li2024eagle): 25 tokens, most of them below the likeliest first tokens."""


SPELLED: dict[str, tuple[str, dict[str, bool]]] = {
    **{kind: (kind, {}) for kind in SCHEMES if kind != "stratified"},
    "tree+": ("tree", {"replacement": True}),
    "strata": ("stratified", {}),
}
"""Word before the colon -> the kind of the scheme, and what it is given besides a shape or numbers."""


def scheme(spelling: str) -> Scheme:
    """The drafting scheme given by one word. Raises BadInput with examples.

    >>> scheme("chain:4"), scheme("paths:3x4"), scheme("tree+:2x1")
    (Chain(depth=4), Paths(count=3, depth=4), Tree(shape=((), ()), replacement=True))
    >>> scheme("oak:2")
    Traceback (most recent call last):
    draftproof.theory.errors.BadInput: 'oak:2' is no draft; write one like chain:4, paths:3x4, ...
    """
    kind, _, size = spelling.partition(":")
    try:
        if kind in SPELLED:
            name, more = SPELLED[kind]
            made: Any = SCHEMES[name]
            first, *others = (field.name for field in fields(made))
            return made(*([shape(size)] if first == "shape" else numbers(size, 1 + len(others))), **more)
    except BadInput as error:
        raise BadInput(f"{quoted(spelling)}: {error}") from None
    except ValueError:
        pass
    like = () if kind in SPELLED else get_close_matches(kind, SPELLED, 1)
    hint = f"did you mean {like[0]}:{size}?" if like else f"write one like {EXAMPLES}"
    raise BadInput(f"{quoted(spelling)} is no draft; {hint}")


def shape(text: str) -> Shape:
    """The shape of a tree, written as CHILDRENxDEPTH, `eagle`, or nested lists; else raises ValueError.

    >>> shape("2x1"), shape("[[[]],[]]")
    (((), ()), (((),), ()))
    """
    if text == "eagle":
        return checked_shape(EAGLE)
    if text.startswith("["):
        try:
            return checked_shape(json.loads(text))
        except RecursionError:
            raise BadInput("nested too deeply") from None
    children, depth = numbers(text, 2)
    whole("depth", depth, 1, DEPTH)
    if sum(children**level for level in range(1, min(depth, 12) + 1)) > NODES:
        raise BadInput(f"shape has more than {NODES} nodes")
    return every(children, depth)


def numbers(text: str, count: int) -> list[int]:
    """Parses `count` positive whole numbers joined by x; ValueError if the text is anything else."""
    if not re.fullmatch(r"[1-9]\d{0,5}(x[1-9]\d{0,5})*", text, re.ASCII) or text.count("x") != count - 1:
        raise ValueError(text)
    return [int(each) for each in text.split("x")]
