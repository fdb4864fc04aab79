"""Flows of the largest gain in small networks, exact in whatever numbers the capacities are."""

from collections import deque
from collections.abc import Hashable
from math import inf

from draftproof.theory.rows import Number, minimum


class Network:
    """Arcs with a capacity and a whole-number gain for every unit that they carry.

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
        self._arcs: list[list[tuple[int, int]]] = []  # of each node: (arc, where it ends)
        self._arc: dict[tuple[int, int], int] = {}
        # By arc; the arc n ^ 1 is the arc n the other way.
        self._left: list[Number] = []  # what it can still take, or give back
        self._open: list[bool] = []  # whether that is more than 0
        self._gain: list[int] = []

    def widen(self, start: Hashable, end: Hashable, by: Number, gain: int = 0) -> None:
        """Adds capacity to an arc, or the arc; two nodes are joined one way only."""
        ends = self._node(start), self._node(end)
        arc = self._arc.get(ends)
        if arc is None:
            arc = self._arc[ends] = len(self._left)
            for (here, there), each, left in ((ends, arc, by), (ends[::-1], arc + 1, by * 0)):
                self._arcs[here].append((each, there))
                self._left.append(left)
                self._open.append(left > 0)
                self._gain.append(0)
        else:
            self._set(arc, self._left[arc] + by)
        if gain:
            self._gain[arc], self._gain[arc + 1] = gain, -gain

    def flow(self, start: Hashable, end: Hashable) -> Number:
        """What the arc carries."""
        return self._left[self._arc[self._name[start], self._name[end]] + 1]

    def saturate(self, source: Hashable, sink: Hashable) -> None:
        """Augments along the path of the largest gain, of those the shortest, while one gains."""
        # One number orders paths: a whole gain counts more than all arcs of a path.
        cost = [1 - gain * len(self._arcs) for gain in self._gain]
        while path := self._path(self._node(source), self._node(sink), cost):
            step = self._left[path[0]]
            for arc in path:
                step = minimum(step, self._left[arc])
            for arc in path:
                self._set(arc, self._left[arc] - step)
                self._set(arc ^ 1, self._left[arc ^ 1] + step)

    def reached(self, source: Hashable) -> set[Hashable]:
        """The nodes to which more could be carried from the source."""
        names = list(self._name)
        queue, seen = [self._node(source)], {self._node(source)}
        for start in queue:
            for arc, end in self._arcs[start]:
                if self._open[arc] and end not in seen:
                    seen.add(end)
                    queue.append(end)
        return {names[node] for node in queue}

    def _path(self, source: int, sink: int, cost: list[int]) -> list[int]:
        # The arcs of the path, last one first.
        arcs, is_open = self._arcs, self._open
        least: list[float] = [inf] * len(arcs)
        least[source] = 0
        into = [(-1, -1)] * len(arcs)  # the arc to a node, and where it starts
        queue, queued = deque([source]), [False] * len(arcs)
        while queue:
            start = queue.popleft()
            queued[start] = False
            so_far = least[start]
            for arc, end in arcs[start]:
                if is_open[arc] and so_far + cost[arc] < least[end]:
                    least[end], into[end] = so_far + cost[arc], (arc, start)
                    if not queued[end]:
                        queued[end] = True
                        queue.append(end)
        if least[sink] >= 0:
            return []
        path, at = [], sink
        while at != source:
            arc, at = into[at]
            path.append(arc)
        return path

    def _node(self, name: Hashable) -> int:
        number = self._name.setdefault(name, len(self._name))
        if number == len(self._arcs):
            self._arcs.append([])
        return number

    def _set(self, arc: int, left: Number) -> None:
        self._left[arc], self._open[arc] = left, left > 0
