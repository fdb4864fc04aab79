"""Drafted trees over large vocabularies, drawn from numpy rows by prefix: fixed shapes and trees of N tokens.

The drafter's rows are a mapping `q[prefix]`. It is read at the nodes that get children; trees of N likeliest
tokens also read it at nodes that in the end get none.
"""

import heapq
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

import numpy as np

from draftproof.simulators.study import designs
from draftproof.theory.draft import Node
from draftproof.theory.drafts.shape import Shape
from draftproof.theory.rows import Prefix
from draftproof.theory.shared.strata import stages

RowsAt: TypeAlias = Mapping[Prefix, np.ndarray]
Siblings: TypeAlias = Callable[[np.ndarray, int, np.random.Generator], list[int]]

ACCEPTED = 0.7, 0.15, 0.06, 0.03
"""Of uneven shapes: how often the first, second, .. sibling is expected to be the accepted one."""

ROUNDING = 1 - 1e-9
"""Numbers in this ratio count as equal, so that rounding does not decide a tie."""

WIDTH, LEVELS = 8, 8
"""EAGLE-2's growth: nodes that are expanded a level, and levels."""


def iid(q: np.ndarray, count: int, rng: np.random.Generator) -> list[int]:
    """Tokens drawn with replacement."""
    return _at(np.cumsum(q), rng.random(count))


def without(q: np.ndarray, count: int, rng: np.random.Generator) -> list[int]:
    """Tokens drawn without replacement, as many as there are."""
    q, drawn = q.copy(), []
    for _ in range(min(count, int((q > 0).sum()))):
        drawn += iid(q, 1, rng)
        q[drawn[-1]] = 0
    return drawn


def top(q: np.ndarray, count: int, _: np.random.Generator) -> list[int]:
    """The likeliest tokens."""
    return designs.likeliest(q, count).tolist()


def greedy(q: np.ndarray, count: int, rng: np.random.Generator) -> list[int]:
    """A sample of all but the `count` - 1 likeliest first, then these (hu2025towards)."""
    T = top(q, count - 1, rng)
    rest = q.copy()
    rest[T] = 0
    return [*iid(rest, 1, rng), *T] if rest.any() else T


def strata(q: np.ndarray, count: int, rng: np.random.Generator) -> list[int]:
    """One token of each stratum: a place between two cuts of the line of the pi."""
    order, pi = designs.strata(q, count)
    k = min(count, len(order))
    return order[_at(np.cumsum(pi), (np.arange(k) + rng.random(k)) / k)].tolist()


def grown(
    q: RowsAt,
    shape: Shape,
    siblings: Siblings,
    rng: np.random.Generator,
    staged: bool = False,
    at: Prefix = (),
) -> Node:
    """A tree of a fixed shape; where tokens run out the first children are drawn. `staged`: siblings of equal
    subtrees are drawn together, from what their elder siblings left (`theory.drafts.stages`).
    """
    if not shape:
        return Node(at, None)
    row, tokens = q[at], list[int]()
    for count in stages(shape) if staged else [len(shape)]:
        row = less(row, tokens) if tokens else row
        tokens += siblings(row, count, rng) if row.any() else []
    pairs = zip(tokens, shape, strict=False)
    below = [grown(q, each, siblings, rng, staged, (*at, x)) for x, each in pairs]
    return Node(at, None, tuple(below), shape)


def less(q: np.ndarray, tokens: list[int]) -> np.ndarray:
    """The row without some tokens, renormalised if anything is left."""
    q = q.copy()
    q[tokens] = 0
    return q / rest if (rest := q.sum()) > 0 else q


def best_first(q: RowsAt, nodes: int, rng: np.random.Generator) -> Node:
    """Strata grown below the nodes most likely to be accepted (`draftproof.theory.drafts.best_first`)."""
    below: dict[tuple[int, Prefix], list[tuple[int, Prefix]]] = {}
    leaves: dict[tuple[int, Prefix], float] = {(0, ()): 1.0}  # (number in drawing order, prefix) -> reach
    left, number = nodes, 1
    while left and leaves:
        value = 2 * sum(leaves.values()) / left
        most = max(leaves.values()) * ROUNDING
        leaf = next(each for each, reach in leaves.items() if reach >= most)
        reach, at = leaves.pop(leaf), leaf[1]
        unsure = _doubt(q[at], len(at))
        count = _worthwhile(q[at], unsure, reach, value, left)
        tokens = strata(q[at], count, rng)
        below[leaf] = [(number + i, (*at, x)) for i, x in enumerate(tokens)]
        kept = reach * accepted(q[at], unsure, count)
        leaves |= dict(zip(below[leaf], kept.tolist(), strict=True))
        number, left = number + len(tokens), left - len(tokens)

    def built(v: tuple[int, Prefix]) -> Node:
        return Node(v[1], None, tuple(map(built, below.get(v, ()))))

    return built((0, ()))


def accepted(q: np.ndarray, unsure: float, count: int) -> np.ndarray:
    """`draftproof.theory.drafts.best_first.accepted`."""
    rows = designs.strata_rows(q, count)
    pi = rows.sum(axis=0)
    sizes = rows @ np.divide(q, pi, out=np.zeros_like(q), where=pi > 0)
    whole = 1 - unsure / (1 + len(rows) + len(rows) ** 2)
    return whole * (sizes + unsure / 4) / (1 + len(rows) * unsure / 4)


def _worthwhile(q: np.ndarray, unsure: float, reach: float, value: float, most: int) -> int:
    # How many siblings: the last adds at least `value` to what the node accepts, times its reach.
    count, most = 1, min(most, int((q > 0).sum()))
    while count < most:
        more = unsure / (1 + count + count**2) - unsure / (3 + 3 * count + count**2)
        if reach * more < value * ROUNDING:
            break
        count += 1
    return count


def _doubt(q: np.ndarray, depth: int) -> float:
    return min(1.0, 0.5 + 10 * (1 - float(q.max()))) * 4 / (4 + depth)


def ddtree(q: RowsAt, nodes: int, rng: np.random.Generator) -> Node:
    """The prefixes that the drafter finds likeliest, one after another (DDTree; rows depend on the path)."""
    kept: set[Prefix] = set()
    heap: list[tuple[float, Prefix]] = [(-1.0, ())]
    while heap and len(kept) <= nodes:
        value, prefix = heapq.heappop(heap)
        kept.add(prefix)
        if len(kept) <= nodes:  # the last one has no children
            for x in top(q[prefix], nodes, rng):
                heapq.heappush(heap, (float(value * q[prefix][x]), (*prefix, x)))
    return of_prefixes(kept - {()})


def eagle2(q: RowsAt, nodes: int, rng: np.random.Generator) -> Node:
    """The WIDTH likeliest nodes of each level are expanded; the likeliest of all stay (li2024eagle2)."""
    found: list[tuple[float, Prefix]] = []
    level: list[tuple[float, Prefix]] = [(1.0, ())]
    for _ in range(LEVELS):
        likeliest = ((reach, at, top(q[at], max(nodes, WIDTH), rng)) for reach, at in level)
        more = [(float(reach * q[at][x]), (*at, x)) for reach, at, tokens in likeliest for x in tokens]
        found += more
        level = sorted(more, reverse=True)[:WIDTH]
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


def _at(line: np.ndarray, places: np.ndarray) -> list[int]:
    # The indices of places in [0, 1] on a line of running sums; never one past the end or of mass 0.
    last = int(np.searchsorted(line, line[-1]))
    return np.minimum(np.searchsorted(line, places * line[-1], side="right"), last).tolist()
