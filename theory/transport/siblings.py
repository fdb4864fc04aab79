"""Laws of one node's draws: its children with the shapes below them, or only the set of their tokens."""

from collections.abc import Callable, Mapping, Sequence
from math import comb
from typing import Any, TypeAlias

from draftproof.theory.draft import Draft, Node
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Number, Row, one
from draftproof.theory.shared.memo import remembered

Siblings: TypeAlias = tuple[tuple[int, tuple], ...]
"""The children that a node drew, as sorted pairs (token, shape below); their order no longer matters."""

SetLaw: TypeAlias = Mapping[frozenset[int], Any]
"""Set of drawn tokens -> probability. Single-step transport depends on nothing else."""

SETS = 2 * 10**6
"""Largest number of listed sets of tokens."""


class SiblingLaw(dict[Siblings, Number]):
    """Siblings -> probability; hashed by identity, so that a cached function can take it."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


def siblings(node: Node) -> Siblings:
    """The children that the node drew."""
    return tuple(sorted([(child.token, child.shape) for child in node.children]))


def law_below(draft: Draft, node: Node) -> SiblingLaw:
    """The law of a node's children."""
    return sibling_law(node.proposal, node.shape, draft.replacement, draft.merged)


@remembered(4096)
def sibling_law(q: Row, shape: tuple, replacement: bool, merged: bool) -> SiblingLaw:
    """The law of the children that a node of this shape draws from q. If `merged`, draws are with replacement
    and equal tokens become one child, whose shape joins those of its copies.
    """
    laws, alike = (q,) * len(shape), replacement or merged
    found = _law(laws, not alike, (), lambda drawn, x: tuple(sorted((*drawn, (x, shape[len(drawn)])))))
    if not merged:
        return SiblingLaw(found)
    out = SiblingLaw()
    for drawn, mass in found.items():
        tokens = sorted({x for x, _ in drawn})
        key = tuple([(x, tuple(leaf for y, below in drawn if y == x for leaf in below)) for x in tokens])
        out[key] = out[key] + mass if key in out else mass
    return out


def set_law(q: Row, k: int, replacement: bool) -> SetLaw:
    """The law of the set of up to k draws from q, i.i.d. or without replacement, while q has mass.

    Raises BadInput for a row without mass, and if more than SETS sets can be drawn.

    >>> from draftproof.theory.numbers import exact
    >>> {tuple(t): mass for t, mass in set_law((exact("1/3"), exact("2/3")), 2, True).items()}
    {(0,): 1/9, (0, 1): 4/9, (1,): 4/9}
    """
    if k < 1:
        raise BadInput(f"a draft has at least one token, not {k}")
    drawable = [x for x, mass in enumerate(q) if mass > 0]
    if not drawable:
        raise BadInput("nothing can be drawn from a proposal row without mass")
    largest = min(k, len(drawable))
    if (count := comb(len(drawable), largest)) > SETS:
        raise BadInput(f"{count} sets of drafted tokens; at most {SETS} are listed")
    if replacement:
        return independent_law((q,) * k)
    return _law((q,) * largest, True, frozenset(), lambda t, x: t | {x})


def independent_law(laws: Sequence[Row]) -> SetLaw:
    """The law of the set of independent draws, one from each row.

    >>> from draftproof.theory.numbers import exact
    >>> half = exact("1/2")
    >>> {tuple(t): mass for t, mass in independent_law(((half, half), (0 * half, 2 * half))).items()}
    {(0, 1): 1/2, (1,): 1/2}
    """
    return _law(laws, False, frozenset(), lambda t, x: t | {x})


def _law(
    laws: Sequence[Row], distinct: bool, start: Any, add: Callable[[Any, int], Any]
) -> dict[Any, Number]:
    # The law of what `add` makes of one draw from each row; `distinct`: without the tokens of earlier draws,
    # while there are others.
    law = {(start, frozenset()): one(laws[0])}
    for row in laws:
        after: dict[Any, Number] = {}
        for (state, drawn), mass in law.items():
            rest = [x for x, chance in enumerate(row) if chance > 0 and x not in drawn]
            whole = sum((row[x] for x in rest[1:]), row[rest[0]]) if distinct and rest else one(row)
            for x in rest:
                key = add(state, x), drawn | {x} if distinct else drawn
                part = mass * row[x] / whole
                after[key] = after[key] + part if key in after else part
            if not rest:
                after[state, drawn] = mass
        law = after
    return {state: mass for (state, _), mass in law.items()}
