"""Laws of one node's draws: its children with the shapes below them, or only the set of their tokens."""

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import Any, TypeAlias

from draftproof.theory.draft import Draft, Node
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Number, Row, one, total, without
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
    return tuple(sorted((child.token, child.shape) for child in node.children))


def law_below(draft: Draft, node: Node) -> SiblingLaw:
    """The law of a node's children."""
    return sibling_law(node.proposal, node.shape, draft.replacement, draft.merged)


@remembered(4096)
def sibling_law(q: Row, shape: tuple, replacement: bool, merged: bool) -> SiblingLaw:
    """The law of the children that a node of this shape draws from q. If `merged`, draws are with replacement
    and equal tokens become one child, whose shape joins those of its copies.
    """
    out = SiblingLaw()
    for tokens, mass in _sequences(q, len(shape), replacement or merged, one(q)):
        children = list(zip(tokens, shape, strict=False))
        if merged:
            children = [
                (x, tuple(leaf for y, below in children if y == x for leaf in below)) for x in set(tokens)
            ]
        key = tuple(sorted(children))
        out[key] = out[key] + mass if key in out else mass
    return out


def _sequences(
    q: Row, count: int, replacement: bool, mass: Number
) -> Iterator[tuple[tuple[int, ...], Number]]:
    # (tokens in drawing order, probability)
    if not count or not total(q) > 0:
        yield (), mass
        return
    for x, chance in enumerate(q):
        if chance > 0:
            rest = q if replacement else without(q, x)
            for tokens, weight in _sequences(rest, count - 1, replacement, mass * chance):
                yield (x, *tokens), weight


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
    law: dict[frozenset[int], Number] = {frozenset(): one(q)}
    for _ in range(largest):
        after: dict[frozenset[int], Number] = {}
        for t, mass in law.items():
            rest = [x for x in drawable if x not in t]
            mass = mass / sum((q[x] for x in rest[1:]), q[rest[0]])
            for x in rest:
                longer, part = t | {x}, mass * q[x]
                after[longer] = after[longer] + part if longer in after else part
        law = after
    return law


def independent_law(laws: Sequence[Row]) -> SetLaw:
    """The law of the set of independent draws, one from each row.

    >>> from draftproof.theory.numbers import exact
    >>> half = exact("1/2")
    >>> {tuple(t): mass for t, mass in independent_law(((half, half), (0 * half, 2 * half))).items()}
    {(0, 1): 1/2, (1,): 1/2}
    """
    law: dict[frozenset[int], Number] = {frozenset(): one(laws[0])}
    for row in laws:
        after: dict[frozenset[int], Number] = {}
        for t, mass in law.items():
            for x, chance in enumerate(row):
                if chance > 0:
                    longer, part = t | {x}, mass * chance
                    after[longer] = after[longer] + part if longer in after else part
        law = after
    return law
