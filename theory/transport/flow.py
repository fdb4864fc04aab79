"""Maximum-gain flows in small networks, exact in the number type of the capacities."""

from collections import deque
from collections.abc import Hashable
from functools import reduce
from math import inf
from typing import Any

from draftproof.theory.rows import Number, minimum


class Network:
    """A network whose arcs have a capacity and a whole-number gain per unit of flow.

    >>> from draftproof.theory.numbers import exact
    >>> net = Network()
    >>> net.widen("in", "a", exact("1/2")), net.widen("in", "b", exact("1/2"))
    (None, None)
    >>> net.widen("a", "out", exact("1/3"), 1), net.widen("b", "out", exact("1/2"), 1)
    (None, None)
    >>> net.widen("a", "b", exact("1"))
    >>> net.saturate("in", "out")
    >>> net.flow("a", "out"), net.flow("a", "b"), net.flow("b", "out")
    (1/3, 0, 1/2)
    """

    __slots__ = ("_arc", "_arcs", "_gain", "_left", "_name", "_open")

    def __init__(self) -> None:
        self._name: dict[Hashable, int] = {}
        self._arcs: list[list[tuple[int, int]]] = []  # of each node: (arc, its end)
        self._arc: dict[tuple[int, int], int] = {}
        # By arc; arc n ^ 1 is the reverse of arc n.
        self._left: list[Any] = []  # residual capacity
        self._open: list[bool | None] = []  # whether it is positive; None until this is decided
        self._gain: list[int] = []

    def widen(self, start: Hashable, end: Hashable, by: Number | None = None, gain: int = 0) -> None:
        """Adds capacity to an arc, creating it if needed; None means no limit."""
        ends = self._node(start), self._node(end)
        arc = self._arc.get(ends)
        if arc is None:
            arc = self._arc[ends] = len(self._left)
            for (here, there), each in ((ends, arc), (ends[::-1], arc + 1)):
                self._arcs[here].append((each, there))
            self._left += [by, 0 if by is None else by * 0]
            self._open += [True if by is None else None, False]
            self._gain += [gain, -gain]
        else:
            self._left[arc] += by
            self._open[arc] = None

    def flow(self, start: Hashable, end: Hashable) -> Number:
        """The flow on the arc."""
        return self._left[self._arc[self._name[start], self._name[end]] + 1]

    def saturate(self, source: Hashable, sink: Hashable) -> None:
        """Augments along paths of the largest gain, the shortest of these first, while the gain is positive.

        This terminates for any ordered numbers (edmonds1972theoretical).
        """
        start, end = self._node(source), self._node(sink)
        # One number orders paths: one unit of gain outweighs all arcs of a path.
        cost = [1 - gain * len(self._arcs) for gain in self._gain]
        while (least := self._least(start, cost))[end] < 0:
            self._augment(start, end, cost, least)

    def reached(self, source: Hashable) -> set[Hashable]:
        """The nodes that more flow from the source could reach."""
        names = list(self._name)
        queue, seen = [self._node(source)], {self._node(source)}
        for start in queue:
            for arc, end in self._arcs[start]:
                if end not in seen and self._has_room(arc):
                    seen.add(end)
                    queue.append(end)
        return {names[node] for node in queue}

    def _least(self, source: int, cost: list[int]) -> list[float]:
        # The least cost of a path to each node.
        arcs, is_open = self._arcs, self._open
        least: list[float] = [inf] * len(arcs)
        least[source] = 0
        queue, queued = deque([source]), [False] * len(arcs)
        while queue:
            start = queue.popleft()
            queued[start] = False
            so_far = least[start]
            for arc, end in arcs[start]:
                if so_far + cost[arc] < least[end] and (is_open[arc] or self._has_room(arc)):
                    least[end] = so_far + cost[arc]
                    if not queued[end]:
                        queued[end] = True
                        queue.append(end)
        return least

    def _augment(self, source: int, sink: int, cost: list[int], least: list[float]) -> None:
        # Augments along paths of least cost until there are none, depth first.
        turn = [0] * len(self._arcs)  # of each node: its first arc that may still lead to the sink
        path: list[int] = []
        nodes = [source]
        while nodes:
            at = nodes[-1]
            if at == sink:
                step = reduce(minimum, [self._left[arc] for arc in path if self._left[arc] is not None])
                for arc in path:
                    if self._left[arc] is not None:
                        self._left[arc] = self._left[arc] - step
                        self._open[arc] = None
                    if self._left[arc ^ 1] is not None:
                        self._left[arc ^ 1] = self._left[arc ^ 1] + step
                    self._open[arc ^ 1] = True
                path, nodes = [], [source]
                continue
            for arc, end in self._arcs[at][turn[at] :]:
                if least[at] + cost[arc] == least[end] and self._has_room(arc):
                    path.append(arc)
                    nodes.append(end)
                    break
                turn[at] += 1
            else:  # a dead end
                nodes.pop()
                if path:
                    path.pop()
                    turn[nodes[-1]] += 1

    def _node(self, name: Hashable) -> int:
        number = self._name.setdefault(name, len(self._name))
        if number == len(self._arcs):
            self._arcs.append([])
        return number

    def _has_room(self, arc: int) -> bool:
        known = self._open[arc]
        if known is None:
            known = self._open[arc] = bool(self._left[arc] > 0)
        return known
