"""One level of a drafted tree: the law of its draws, and a plan that shares the accepted mass out.

A *brood* is what one node drew: the multiset of (token, whether that child has children itself),
sorted; the order of drawing is kept only as far as it says which child has children. A plan
depends on nothing that another draw of the same level would have shown differently: that is what
keeps a verifier built on it lossless.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import TypeAlias

from theory.draft import Draft, Node
from theory.rows import Number, Row, excess, one, share, without
from theory.transport.flow import largest

Brood: TypeAlias = tuple[tuple[int, bool], ...]
Place: TypeAlias = tuple[int, int]
"""(index of the node, token)."""


@dataclass(frozen=True)
class Plan:
    """`share[outcome][place]`: the part of its room that a joint outcome gives to a drafted token;
    `mean[place]`: the expected mass of that; `most`: all of it.
    """

    share: Mapping[tuple[Brood, ...], Mapping[Place, Number]]
    mean: Mapping[Place, Number]
    most: Number

    def kept(self, index: int, row: Row) -> Row:
        """What the plan leaves of node `index`'s target row."""
        return excess(row, tuple([self.mean.get((index, x), mass * 0) for x, mass in enumerate(row)]))


def drawn(draft: Draft, node: Node) -> int:
    """How many draws were made below a node: of K merged paths as many as run through it."""
    if not draft.merged:
        return len(node.children)
    at = len(node.prefix) - len(draft.root.prefix)
    return sum(path[at] is node for path in draft.paths)


def brood(draft: Draft, node: Node) -> Brood:
    """What the node drew."""
    return tuple(
        sorted(
            (child.token, child.proposal is not None)
            for child in node.children
            for _ in range(max(1, drawn(draft, child)) if draft.merged else 1)
        )
    )


def broods(draft: Draft, node: Node) -> dict[Brood, Number]:
    """The law of what a node draws, given that it exists."""
    kinds = tuple(child.proposal is not None for child in node.children)
    count = drawn(draft, node)
    if draft.merged:
        kinds = (kinds[0],) * count
    return law(node.proposal, kinds, draft.replacement or draft.merged)


@lru_cache(maxsize=4096)
def law(q: Row, kinds: tuple[bool, ...], replacement: bool) -> dict[Brood, Number]:
    """The law of the multiset of len(kinds) draws from q, draw j of kind kinds[j].

    >>> from theory.numbers import exact
    >>> law((exact("1/3"), exact("2/3")), (False, False), True)
    {((0, False), (0, False)): 1/9, ((0, False), (1, False)): 4/9, ((1, False), (1, False)): 4/9}
    """
    out: dict[Brood, Number] = {}
    for tokens, mass in _draws(q, len(kinds), replacement, one(q)):
        key = tuple(sorted(zip(tokens, kinds, strict=True)))
        out[key] = out[key] + mass if key in out else mass
    return out


def _draws(q: Row, count: int, replacement: bool, mass: Number) -> Iterator[tuple[tuple[int, ...], Number]]:
    if not count:
        yield (), mass
        return
    for x, chance in enumerate(q):
        if chance > 0:
            rest = q if replacement else without(q, x)
            for tokens, weight in _draws(rest, count - 1, replacement, mass * chance):
                yield (x, *tokens), weight


def outcomes(laws: Sequence[Mapping[Brood, Number]]) -> int:
    """How many joint outcomes the draws of some nodes have."""
    return prod(map(len, laws))


def plan(rows: Sequence[Row], laws: Sequence[Mapping[Brood, Number]], room: Number, rounds: int = 1) -> Plan:
    """A plan of the largest accepted mass: rows[i] is what node i may still emit, a part of a row;
    the nodes draw independently, by their laws; every outcome has `room`, at most 1, of its
    probability to give away.

    Tokens with a child that has children are spread over the outcomes in `rounds`
    (theory.transport.flow); the others get what the last round leaves.
    """
    return _plan(tuple(rows), tuple(tuple(law.items()) for law in laws), room, rounds)


@lru_cache(maxsize=4096)
def _plan(
    rows: tuple[Row, ...], laws: tuple[tuple[tuple[Brood, Number], ...], ...], room: Number, rounds: int
) -> Plan:
    keys: list[tuple[Brood, ...]] = []
    supply: list[Number] = []
    edges: list[dict[Hashable, int]] = []
    for joint in product(*laws):
        keys.append(tuple(key for key, _ in joint))
        supply.append(prod((mass for _, mass in joint), start=room))
        reach: dict[Hashable, int] = {}
        for i, (key, _) in enumerate(joint):
            for x, inner in key:
                reach[i, x] = reach.get((i, x), 0) + inner
        edges.append(reach)
    demand = {(i, x): mass for i, row in enumerate(rows) for x, mass in enumerate(row)}
    spread = any(weight for reach in edges for weight in reach.values())
    flow = largest(supply, demand, edges, rounds if spread else 1)
    mean: dict[Place, Number] = {}
    for sent in flow:
        for place, mass in sent.items():
            mean[place] = mean[place] + mass if place in mean else mass
    shares = {
        key: {place: share(mass, whole) for place, mass in sent.items()}
        for key, whole, sent in zip(keys, supply, flow, strict=True)
    }
    return Plan(shares, mean, sum(mean.values(), supply[0] * 0))
