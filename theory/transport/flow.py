"""Largest flows in small networks, exact in whatever numbers the capacities are."""

from collections import deque
from collections.abc import Hashable

from theory.rows import Number, minimum


class Network:
    """Arcs with capacities; the flow only ever grows, so arcs may be widened and the flow resumed.

    >>> from theory.numbers import exact
    >>> net = Network()
    >>> net.widen("in", "a", exact("1/2")), net.widen("in", "b", exact("1/2"))
    (None, None)
    >>> net.widen("a", "out", exact("1/3")), net.widen("a", "b", exact("1")), net.widen("b", "out", exact("1/2"))
    (None, None, None)
    >>> net.saturate("in", "out")
    >>> net.flow("a", "out"), net.flow("a", "b"), net.flow("b", "out")
    (1/3, 0, 1/2)
    """

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left: dict[Hashable, dict[Hashable, Number]] = {}  # what an arc can still take, or give back

    def widen(self, start: Hashable, end: Hashable, by: Number) -> None:
        """Adds capacity to an arc; two nodes are joined one way only."""
        ahead, back = self._left.setdefault(start, {}), self._left.setdefault(end, {})
        ahead[end] = ahead[end] + by if end in ahead else by
        back.setdefault(start, by * 0)

    def flow(self, start: Hashable, end: Hashable) -> Number:
        """What the arc carries."""
        return self._left[end][start]

    def saturate(self, source: Hashable, sink: Hashable) -> None:
        """Augments along shortest paths until there is none: ends for any numbers (Edmonds, Karp)."""
        while path := self._path(source, sink):
            step = None
            for start, end in path:
                left = self._left[start][end]
                step = left if step is None else minimum(step, left)
            for start, end in path:
                self._left[start][end] = self._left[start][end] - step
                self._left[end][start] = self._left[end][start] + step

    def _path(self, source: Hashable, sink: Hashable) -> list[tuple[Hashable, Hashable]]:
        before: dict[Hashable, Hashable] = {source: source}
        queue = deque([source])
        while queue:
            start = queue.popleft()
            for end, left in self._left[start].items():
                if left > 0 and end not in before:
                    before[end] = start
                    if end == sink:
                        path = [(start, end)]
                        while start != source:
                            path.append((before[start], start))
                            start = before[start]
                        return path
                    queue.append(end)
        return []
