"""Plans that give target mass to the children drawn by the nodes of one level.

A plan depends on the laws of the level's draws and on the shapes below them, never on tokens drawn at deeper
levels: if it did, those draws would no longer follow the laws that later decisions assume.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import TypeAlias

from draftproof.theory.rows import Number, Row, excess, one, share
from draftproof.theory.shared.memo import remembered
from draftproof.theory.transport.flow import Network
from draftproof.theory.transport.siblings import SiblingLaw, Siblings

Place: TypeAlias = tuple[int, int]
"""(index of a node, token below it)."""

SOURCE, SINK = "source", "sink"


@dataclass(frozen=True)
class Plan:
    """The rates that each joint outcome of the nodes' draws gives to the drafted tokens.

    `rate[outcome][place]` is the probability with which the outcome enters the token at that place.
    `accepted` is the mass that is given in all, on average, and `left[i]` what that leaves of row i.
    """

    rate: Mapping[tuple[Siblings, ...], Mapping[Place, Number]]
    accepted: Number
    left: Sequence[Row]

    def given(self, drawn: Siblings) -> dict[int, Number]:
        """What a plan of one node gives to each token that the node drew."""
        return {x: mass for (_, x), mass in self.rate[drawn,].items()}


@lru_cache(4096)
def carriers(drawn: Siblings, token: int) -> tuple[tuple, ...]:
    """Shapes of the copies of a token that share its mass equally: the copies of the highest `worth`."""
    copies = [shape for x, shape in drawn if x == token]
    most = max(map(worth, copies))
    return tuple([shape for shape in copies if worth(shape) == most])


@lru_cache(4096)
def worth(shape: tuple) -> int:
    """An estimate, in thousandths of a token, of what is accepted below a node entered with rate 1: the mean
    of the slopes at both ends.
    """
    return slope(shape, 1, 1) + slope(shape, 0, 1) >> 1 if shape else 0


def slope(shape: tuple, a: int, b: int) -> int:
    """An estimate of the derivative, at rate a/b and in thousandths, of the tokens accepted below a node by
    the node's rate. At rate 0 every child is accepted; at rate 1, with k draws, 1.6/(k+1) less. An accepted
    child is assumed to be the first with probability 0.6, else the second with probability 0.6, and so on.
    """
    below = sum(6 * 4**j * worth(child) // 10 ** (j + 1) for j, child in enumerate(shape))
    return (1000 + below) * (5 * (len(shape) + 1) * b - 8 * a) // (5 * (len(shape) + 1) * b)


@remembered(4096)
def plan(rows: Sequence[Row], laws: Sequence[SiblingLaw], left: Number, segments: int = 1) -> Plan:
    """A plan that accepts much mass. rows[i] is the mass that node i must emit, a part of a row. The nodes
    draw independently, by their laws. Each outcome can give a fraction `left` <= 1 of its probability to
    children.

    With one segment the plan maximises the accepted mass. With more segments it maximises the sum of a
    concave piecewise linear value of the rates, by `slope`, which prefers children with large subtrees and
    equal rates for the same token. The value is an estimate; the correctness of the emitted law does not
    depend on it.
    """
    net = Network()
    for i, row in enumerate(rows):
        for x, mass in enumerate(row):
            net.widen((i, x), SINK, mass)
    probability: dict[tuple[Siblings, ...], Number] = {}
    # The network's nodes for each place.
    segment: dict[tuple[Siblings, ...], dict[Place, list[Hashable]]] = {}
    for joint in product(*(law.items() for law in laws)):
        key = tuple(drawn for drawn, _ in joint)
        probability[key] = prod((mass for _, mass in joint), start=one(rows[0]))
        whole = left * probability[key]
        net.widen(SOURCE, key, whole)
        segment[key] = {}
        for i, x in dict.fromkeys((i, x) for i, drawn in enumerate(key) for x, _ in drawn):
            shape, *others = carriers(key[i], x)
            segment[key][i, x] = nodes = []
            for value, width in _value(shape if segments > 1 else (), 1 + len(others), segments):
                nodes.append((key, i, x, len(nodes)))
                net.widen(key, nodes[-1], whole * width / segments)
                net.widen(nodes[-1], (i, x), gain=value)
    net.saturate(SOURCE, SINK)
    rates = {
        key: {
            place: share(sum((net.flow(key, node) for node in nodes), left * 0), left * probability[key])
            for place, nodes in places.items()
        }
        for key, places in segment.items()
    }
    mean = {place: net.flow(place, SINK) for places in segment.values() for place in places}
    taken = [tuple([mean.get((i, x), left * 0) for x in range(len(row))]) for i, row in enumerate(rows)]
    return Plan(rates, sum(mean.values(), left * 0), tuple(map(excess, rows, taken)))


def _value(shape: tuple, copies: int, segments: int) -> Iterator[tuple[int, int]]:
    # (gain per unit, width in units of outcome / segments) of each piece of a token's value.
    if not shape:
        yield 1000, segments
        return
    for n in range(segments):
        yield 1000 + slope(shape, 2 * n + 1, 2 * segments), copies
