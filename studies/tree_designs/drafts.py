"""Drafted trees over large vocabularies: the schemes of theory/drafts, drawn from numpy rows by prefix.

The drafter's rows are a mapping `q[prefix]`, read at the nodes that get children; trees of N likeliest tokens
also read it at candidates that are not expanded.
"""

import heapq
from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np

from draftproof.theory.draft import Node
from draftproof.theory.drafts.shape import Shape
from draftproof.theory.rows import Prefix, likeliest

RowsAt: TypeAlias = Mapping[Prefix, np.ndarray]

ACCEPTED = 0.7, 0.15, 0.06, 0.03
"""Of uneven shapes: how often the first, second, .. sibling is expected to be the accepted one."""

EXPANDED, LEVELS = 8, 8
"""EAGLE-2's growth: nodes that are expanded a level, and levels."""


class Sampler:
    """The oracle that draws from float rows [V]."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def choose(self, row: np.ndarray) -> int:
        line = np.cumsum(row)
        last = int(np.searchsorted(line, line[-1]))  # of tokens with mass
        return min(int(np.searchsorted(line, self.rng.random() * line[-1], side="right")), last)

    def accept(self, probability: float) -> bool:
        return self.rng.random() < probability


def eagle2(q: RowsAt, nodes: int) -> Node:
    """The EXPANDED likeliest nodes of each level get children; the likeliest of all stay (li2024eagle2)."""
    found: list[tuple[float, Prefix]] = []
    level: list[tuple[float, Prefix]] = [(1.0, ())]
    for _ in range(LEVELS):
        tops = ((reach, at, likeliest(q[at], max(nodes, EXPANDED))) for reach, at in level)
        more = [(float(reach * q[at][x]), (*at, x)) for reach, at, tokens in tops for x in tokens]
        found += more
        level = sorted(more, reverse=True)[:EXPANDED]
    found.sort(key=lambda each: (-each[0], len(each[1])))
    return of_prefixes(prefix for _, prefix in found[:nodes])


def of_prefixes(kept: Iterable[Prefix]) -> Node:
    """The tree whose nodes below the root are the prefixes."""
    below: dict[Prefix, list[Prefix]] = {}
    for prefix in sorted(kept):
        below.setdefault(prefix[:-1], []).append(prefix)

    def built(prefix: Prefix) -> Node:
        return Node(prefix, None, tuple(map(built, below.get(prefix, ()))))

    return built(())


def uneven(nodes: int) -> Shape:
    """The shape of largest E[tau] where siblings are accepted at the rates ACCEPTED (chen2024sequoia).

    >>> uneven(3)
    ((((),),),)
    """
    children: dict[int, list[int]] = {0: []}
    reach, heap = {0: 1.0}, [(-ACCEPTED[0], 0, 0)]
    for i in range(1, nodes + 1):
        value, parent, j = heapq.heappop(heap)
        children[parent].append(i)
        children[i], reach[i] = [], -value
        heapq.heappush(heap, (-reach[i] * ACCEPTED[0], i, 0))
        if j + 1 < len(ACCEPTED):
            heapq.heappush(heap, (-reach[parent] * ACCEPTED[j + 1], parent, j + 1))

    def built(at: int) -> Shape:
        return tuple(map(built, children[at]))

    return built(0)
