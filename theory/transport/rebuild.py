"""Exact plans on tight edges: leaf elimination on a forest, and augmenting where that is not enough."""

from collections import deque
from collections.abc import Hashable, Mapping
from itertools import pairwise
from typing import TypeVar

import numpy as np

Row = TypeVar("Row", bound=Hashable)


def forest(tight: np.ndarray, first: np.ndarray) -> list[tuple[int, int]]:
    """A maximal forest of tight edges that prefers those listed in `first`."""
    m, n = tight.shape
    above = list(range(m + n))

    def root(node: int) -> int:
        while above[node] != node:
            above[node] = node = above[above[node]]
        return node

    kept: list[tuple[int, int]] = []
    for edges in (first, np.argwhere(tight)):
        for i, j in edges.tolist():
            a, b = root(i), root(m + j)
            if a != b:
                above[a] = b
                kept.append((i, j))
        if len(kept) == m + n - 1:
            break
    return kept


def rebuilt(supply: list[int], demand: list[int], edges: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The masses that a forest must carry, by leaf elimination: a leaf's one edge takes all it has.

    A tree of the forest that does not balance leaves its rest at its last node; negative masses are
    cut to zero. Both are for `finished` to mend.

    >>> dict(sorted(rebuilt([2, 1], [1, 2], [(0, 0), (0, 1), (1, 1)]).items()))
    {(0, 0): 1, (0, 1): 1, (1, 1): 1}
    """
    m = len(supply)
    left = [*supply, *demand]
    near: list[set[int]] = [set() for _ in left]
    for i, j in edges:
        near[i].add(m + j)
        near[m + j].add(i)
    flow: dict[tuple[int, int], int] = {}
    leaves = deque(node for node, beside in enumerate(near) if len(beside) == 1)
    while leaves:
        leaf = leaves.popleft()
        if not near[leaf]:
            continue
        other = near[leaf].pop()
        near[other].discard(leaf)
        mass, left[leaf] = left[leaf], 0
        left[other] -= mass
        flow[(leaf, other - m) if leaf < m else (other, leaf - m)] = mass
        if len(near[other]) == 1:
            leaves.append(other)
    return flow


def finished(
    supply: list[int],
    demand: list[int],
    reward: np.ndarray,
    flow: dict[tuple[int, int], int],
    u: np.ndarray,
    v: np.ndarray,
) -> tuple[dict[tuple[int, int], int], np.ndarray, np.ndarray]:
    """The plan completed exactly: augment along tight edges; where none leads on, move the duals.

    `flow` may break its marginals; what exceeds them is dropped first. Ends because every dual step
    lowers an integral bound and every augmentation is exact.
    """
    have, want = list(supply), list(demand)
    plan: dict[tuple[int, int], int] = {}
    carriers: list[set[int]] = [set() for _ in demand]
    for (i, j), mass in flow.items():
        if (mass := min(mass, have[i], want[j])) > 0:
            plan[i, j] = mass
            carriers[j].add(i)
            have[i], want[j] = have[i] - mass, want[j] - mass
    u, v = u.copy(), v.copy()
    while any(have):
        path = _augmenting(reward, u, v, have, want, carriers)
        i, j = path[0][0], path[-1][1]
        back = [(b, c) for (_, c), (b, _) in pairwise(path)]
        mass = min([have[i], want[j], *(plan[edge] for edge in back)])
        for edge in path:
            plan[edge] = plan.get(edge, 0) + mass
            carriers[edge[1]].add(edge[0])
        for edge in back:
            plan[edge] -= mass
            if not plan[edge]:
                del plan[edge]
                carriers[edge[1]].discard(edge[0])
        have[i], want[j] = have[i] - mass, want[j] - mass
    return plan, u, v


def _augmenting(
    reward: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    have: list[int],
    want: list[int],
    carriers: list[set[int]],
) -> list[tuple[int, int]]:
    # Edges (row, column) from a row with mass left to a column with room, all tight; between two of
    # them the path goes back along the second's row. Moves u and v in place when it gets stuck.
    rows = [i for i, mass in enumerate(have) if mass]
    via: dict[int, int] = {}  # column -> the row it was reached from
    into: dict[int, int] = {}  # row -> the column it was reached from
    seen, queue = set(rows), deque(rows)
    while True:
        while queue:
            i = queue.popleft()
            for j in np.flatnonzero(u[i] + v == reward[i]).tolist():
                if j in via:
                    continue
                via[j] = i
                if want[j]:
                    return traced(j, via, into)
                for k in carriers[j] - seen:
                    seen.add(k)
                    into[k] = j
                    queue.append(k)
        inside, outside = sorted(seen), [j for j in range(len(want)) if j not in via]
        step = (u[inside, None] + v[outside] - reward[np.ix_(inside, outside)]).min()
        u[inside] -= step
        v[list(via)] += step
        queue.extend(inside)


def traced(j: int, via: Mapping[int, Row], into: Mapping[Row, int]) -> list[tuple[Row, int]]:
    """The augmenting path that ends in column j, as (row, column) edges."""
    path = [(via[j], j)]
    while path[-1][0] in into:
        j = into[path[-1][0]]
        path.append((via[j], j))
    return path[::-1]
