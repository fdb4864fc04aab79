"""A largest flow from outcomes to tokens, in numbers of any kind, that spreads before it fills."""

from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

from theory.rows import Number, minimum

Flow: TypeAlias = list[dict[Hashable, Number]]
"""For every outcome, what it sends to each of its tokens."""


def largest(
    supply: Sequence[Number],
    demand: Mapping[Hashable, Number],
    edges: Sequence[Mapping[Hashable, int]],
    rounds: int = 1,
) -> Flow:
    """A flow of the largest total: outcome o sends at most supply[o], only to the tokens in edges[o];
    no token gets more than its demand.

    Among the largest flows the `rounds` choose: in round n of N, an edge of weight c takes at most
    c n / N of its outcome's supply (of weight 0: nothing before the last round), and what earlier
    rounds sent is rerouted only to send more. One round is a plain largest flow; more rounds make
    the edges of one token more alike. Shortest augmenting paths: it ends for any numbers, and is
    exact where they are.

    >>> from theory.numbers import exact
    >>> half, third = exact("1/2"), exact("1/3")
    >>> largest([half, half], {"a": half, "b": third}, [{"a": 1, "b": 1}, {"a": 1}])
    [{'a': 1/6, 'b': 1/3}, {'a': 1/3}]
    """
    nothing = supply[0] * 0
    left, wanted = list(supply), dict(demand)
    flow: Flow = [dict.fromkeys(reach, nothing) for reach in edges]
    into: dict[Hashable, list[int]] = {x: [] for x in demand}
    for o, reach in enumerate(edges):
        for x in reach:
            into[x].append(o)
    for n in range(1, rounds + 1):
        room: Flow = [
            {x: mass if n == rounds else minimum(mass, mass * (c * n) / rounds) for x, c in reach.items()}
            for mass, reach in zip(supply, edges, strict=True)
        ]
        while steps := _shortest(left, wanted, room, flow, into):
            _augment(steps, left, wanted, room, flow)
    return flow


Steps: TypeAlias = list[tuple[int, Hashable]]
"""An augmenting path as (outcome, token) edges from its end to its start: the edges at even places
send more, those between them less.
"""


def _augment(steps: Steps, left: list[Number], wanted: dict[Hashable, Number], room: Flow, flow: Flow) -> None:
    (_, end), (start, _) = steps[0], steps[-1]
    size = minimum(left[start], wanted[end])
    for place, (o, x) in enumerate(steps):
        size = minimum(size, flow[o][x] if place % 2 else room[o][x] - flow[o][x])
    for place, (o, x) in enumerate(steps):
        flow[o][x] = flow[o][x] - size if place % 2 else flow[o][x] + size
    left[start] = left[start] - size
    wanted[end] = wanted[end] - size


def _shortest(
    left: list[Number],
    wanted: dict[Hashable, Number],
    room: Flow,
    flow: Flow,
    into: dict[Hashable, list[int]],
) -> Steps:
    queue = deque(o for o, mass in enumerate(left) if mass > 0)
    via: dict[int, Hashable] = dict.fromkeys(queue)  # the token by which an outcome was reached
    source: dict[Hashable, int] = {}  # the outcome by which a token was reached
    while queue:
        o = queue.popleft()
        for x, most in room[o].items():
            if x in source or not flow[o][x] < most:
                continue
            source[x] = o
            if wanted[x] > 0:
                return _back(x, via, source)
            for other in into[x]:
                if other not in via and flow[other][x] > 0:
                    via[other] = x
                    queue.append(other)
    return []


def _back(x: Hashable, via: dict[int, Hashable], source: dict[Hashable, int]) -> Steps:
    steps: Steps = []
    while True:
        o = source[x]
        steps.append((o, x))
        if via[o] is None:
            return steps
        x = via[o]
        steps.append((o, x))
