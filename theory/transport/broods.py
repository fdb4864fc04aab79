"""What one node draws, its *brood*: its children's (token, shape below), sorted; and the law of that.

Order of drawing is kept only as far as it says which shape a token got.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeAlias

from draftproof.theory.draft import Draft, Node
from draftproof.theory.memo import remembered
from draftproof.theory.rows import Number, Row, one, total, without

Brood: TypeAlias = tuple[tuple[int, tuple], ...]


class Draws(dict[Brood, Number]):
    """Brood -> probability. `law` remembers them, so they are told apart by identity."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


def brood(node: Node) -> Brood:
    """What the node drew."""
    return tuple(sorted((child.token, child.shape) for child in node.children))


def draws(draft: Draft, node: Node, shape: tuple | None = None) -> Draws:
    """The law of what a node draws below it, for its own shape or another."""
    return law(node.proposal, node.shape if shape is None else shape, draft.replacement, draft.merged)


@remembered(4096)
def law(q: Row, shape: tuple, replacement: bool, merged: bool) -> Draws:
    """The law of the brood of a node of that shape; `merged` are draws with replacement of which
    equal ones become one child, with all that is below them.

    >>> from draftproof.theory.numbers import exact
    >>> q = exact("1/3"), exact("2/3")
    >>> law(q, ((), ()), False, False)
    {((0, ()), (1, ())): 1}
    >>> law(q, (((),), ((),)), True, True)
    {((0, ((), ())),): 1/9, ((0, ((),)), (1, ((),))): 4/9, ((1, ((), ())),): 4/9}
    """
    out = Draws()
    for tokens, mass in _drawn(q, len(shape), replacement or merged, one(q)):
        children = list(zip(tokens, shape, strict=False))
        if merged:
            children = [
                (x, tuple(leaf for y, below in children if y == x for leaf in below)) for x in set(tokens)
            ]
        key = tuple(sorted(children))
        out[key] = out[key] + mass if key in out else mass
    return out


def _drawn(q: Row, count: int, replacement: bool, mass: Number) -> Iterator[tuple[tuple[int, ...], Number]]:
    if not count or not total(q) > 0:
        yield (), mass
        return
    for x, chance in enumerate(q):
        if chance > 0:
            rest = q if replacement else without(q, x)
            for tokens, weight in _drawn(rest, count - 1, replacement, mass * chance):
                yield (x, *tokens), weight


def outcomes(laws: Sequence[Draws]) -> int:
    """How many joint outcomes the draws of some nodes have."""
    return prod(map(len, laws))
