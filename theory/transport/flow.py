"""Flows of the largest gain in small networks, exact in whatever numbers the capacities are."""

from collections import deque
from collections.abc import Hashable

from theory.rows import Number, minimum


class Network:
    """Arcs with a capacity and a whole-number gain for every unit that they carry.

    >>> from theory.numbers import exact
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

    __slots__ = ("_gain", "_left")

    def __init__(self) -> None:
        self._left: dict[Hashable, dict[Hashable, Number]] = {}  # what an arc can still take, or give back
        self._gain: dict[tuple[Hashable, Hashable], int] = {}

    def widen(self, start: Hashable, end: Hashable, by: Number, gain: int = 0) -> None:
        """Adds capacity to an arc, or the arc; two nodes are joined one way only."""
        ahead, back = self._left.setdefault(start, {}), self._left.setdefault(end, {})
        ahead[end] = ahead[end] + by if end in ahead else by
        back.setdefault(start, by * 0)
        if gain:
            self._gain[start, end], self._gain[end, start] = gain, -gain

    def flow(self, start: Hashable, end: Hashable) -> Number:
        """What the arc carries."""
        return self._left[end][start]

    def saturate(self, source: Hashable, sink: Hashable) -> None:
        """Augments along the path of the largest gain, of those the shortest, while one gains."""
        while path := self._path(source, sink):
            step = self._left[path[0][0]][path[0][1]]
            for start, end in path:
                step = minimum(step, self._left[start][end])
            for start, end in path:
                self._left[start][end] = self._left[start][end] - step
                self._left[end][start] = self._left[end][start] + step

    def _path(self, source: Hashable, sink: Hashable) -> list[tuple[Hashable, Hashable]]:
        best = {source: (0, 0)}  # (minus the gain, number of arcs)
        before: dict[Hashable, Hashable] = {}
        queue, queued = deque([source]), {source}
        while queue:
            start = queue.popleft()
            queued.discard(start)
            loss, arcs = best[start]
            for end, left in self._left[start].items():
                if left > 0:
                    label = loss - self._gain.get((start, end), 0), arcs + 1
                    if end not in best or label < best[end]:
                        best[end], before[end] = label, start
                        if end not in queued:
                            queued.add(end)
                            queue.append(end)
        if sink not in best or best[sink][0] >= 0:
            return []
        path = [(before[sink], sink)]
        while path[-1][0] != source:
            path.append((before[path[-1][0]], path[-1][0]))
        return path
