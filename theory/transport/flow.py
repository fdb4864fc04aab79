"""Maximum-gain flows in small networks, exact in the number type of the capacities."""

from collections import deque
from collections.abc import Hashable
from functools import reduce
from itertools import pairwise
from math import inf
from typing import Any

from draftproof.theory.rows import Number, above, minimum


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

    __slots__ = ("_arcs", "_number")

    def __init__(self) -> None:
        self._number: dict[Hashable, int] = {}
        self._arcs: list[dict[int, list]] = []  # of each node: end -> [room, gain]; no limit is None

    def widen(self, start: Hashable, end: Hashable, by: Number | None = None, gain: int = 0) -> None:
        """Adds capacity to an arc, creating it if needed; None means no limit. The capacity of the opposite
        arc is what this one carries.
        """
        a, b = self._node(start), self._node(end)
        if b in self._arcs[a]:
            self._arcs[a][b][0] += by
        else:
            self._arcs[a][b], self._arcs[b][a] = [by, gain], [0, -gain]

    def flow(self, start: Hashable, end: Hashable) -> Any:
        """The flow on the arc."""
        return self._arcs[self._number[end]][self._number[start]][0]

    def saturate(self, source: Hashable, sink: Hashable) -> None:
        """Augments along paths of the largest gain, the shortest of these first, while the gain is positive.

        This terminates for any ordered numbers (edmonds1972theoretical).
        """
        start, end = self._node(source), self._node(sink)
        while (least := self._least(start))[end] < 0:
            self._augment(start, end, least)

    def reached(self, source: Hashable) -> set[Hashable]:
        """The nodes that more flow from the source could reach."""
        least, names = self._least(self._node(source)), list(self._number)
        return {names[node] for node, length in enumerate(least) if length < inf}

    def _cost(self, gain: int) -> int:
        # One number orders paths: one unit of gain outweighs all arcs of a path.
        return 1 - gain * len(self._arcs)

    def _least(self, source: int) -> list[float]:
        # The least cost of a path to each node.
        least = [inf] * len(self._arcs)
        least[source] = 0
        queue, queued = deque([source]), {source}
        while queue:
            start = queue.popleft()
            queued.remove(start)
            for end, (room, gain) in self._arcs[start].items():
                length = least[start] + self._cost(gain)
                if length < least[end] and (room is None or above(room)):
                    least[end] = length
                    if end not in queued:
                        queued.add(end)
                        queue.append(end)
        return least

    def _augment(self, source: int, sink: int, least: list[float]) -> None:
        # Augments along paths of least cost until there are none, depth first.
        ahead: dict[int, list[int]] = {}  # of each node: the ends that may still lead to the sink, last first
        path = [source]
        while path:
            at = path[-1]
            if at == sink:
                arcs = [(self._arcs[a][b], self._arcs[b][a]) for a, b in pairwise(path)]
                step = reduce(minimum, [arc[0] for arc, _ in arcs if arc[0] is not None])
                for arc, opposite in arcs:
                    arc[0] = None if arc[0] is None else arc[0] - step
                    opposite[0] = None if opposite[0] is None else opposite[0] + step
                path = [source]
                continue
            if at not in ahead:
                ahead[at] = list(self._arcs[at])[::-1]
            while ahead[at]:
                end = ahead[at][-1]
                room, gain = self._arcs[at][end]
                if least[at] + self._cost(gain) == least[end] and (room is None or above(room)):
                    path.append(end)
                    break
                ahead[at].pop()
            else:  # a dead end
                path.pop()
                if path:
                    ahead[path[-1]].pop()

    def _node(self, name: Hashable) -> int:
        number = self._number.setdefault(name, len(self._number))
        if number == len(self._arcs):
            self._arcs.append({})
        return number
