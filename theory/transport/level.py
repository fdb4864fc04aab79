"""How target mass is carried to what the nodes of one level drew.

Nothing here looks below the broods it judges: what verification decides about a level must not depend
on draws of which it does not know the law.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import TypeAlias

from draftproof.theory.memo import Key, remembered
from draftproof.theory.rows import Number, Row, add, excess, minimum, one, positive, scale, share, total
from draftproof.theory.transport.broods import Brood, Draws
from draftproof.theory.transport.flow import Network

Place: TypeAlias = tuple[int, int]
"""(index of a node, token below it)."""
Entry: TypeAlias = tuple[tuple, Number]
"""(shape below a child, rate at which the child is entered)."""

SOURCE, SINK, ENTRY = "source", "sink", "entry"


@dataclass(frozen=True)
class Plan:
    """`share[outcome][place]`: the part of its room that a joint outcome gives to a drafted token;
    `mean[place]`: the expected mass of that; `most`: all of it; `chance[outcome]`: its probability.
    """

    share: Mapping[tuple[Brood, ...], Mapping[Place, Number]]
    mean: Mapping[Place, Number]
    most: Number
    chance: Mapping[tuple[Brood, ...], Number]

    def kept(self, index: int, row: Row) -> Row:
        """What the plan leaves of node `index`'s target row."""
        return excess(row, tuple([self.mean.get((index, x), mass * 0) for x, mass in enumerate(row)]))

    def entries(self, index: int, token: int) -> list[tuple[Entry, Number]]:
        """How a token below node `index` can be entered, and the expected number of copies that are."""
        out: dict[Key, Number] = {}
        for joint, given in self.share.items():
            if mass := given.get((index, token)):
                copies = carriers(joint[index], token)
                for shape in copies:
                    entry = Key((shape, mass / len(copies)))
                    out[entry] = out[entry] + self.chance[joint] if entry in out else self.chance[joint]
        return [(entry.arguments, copies) for entry, copies in out.items()]


@lru_cache(4096)
def carriers(brood: Brood, token: int) -> tuple[tuple, ...]:
    """Shapes of the copies of a token that share its mass alike: those that are worth most."""
    copies = [shape for x, shape in brood if x == token]
    most = max(map(worth, copies))
    return tuple([shape for shape in copies if worth(shape) == most])


@lru_cache(4096)
def worth(shape: tuple) -> int:
    """About how many thousandths of a token are accepted below a node that is entered with rate 1:
    the mean of the slopes at both ends.
    """
    return slope(shape, 1, 1) + slope(shape, 0, 1) >> 1 if shape else 0


def slope(shape: tuple, a: int, b: int) -> int:
    """The derivative of what is accepted below a node, by its rate, at rate a/b, in thousandths: all
    is accepted at rate 0, and with k draws 1.6/(k+1) less at rate 1. An accepted child is taken to
    be the first in 6 cases of 10, the second in 6 of the other 4, and so on.
    """
    below = sum(6 * 4**j * worth(child) // 10 ** (j + 1) for j, child in enumerate(shape))
    return (1000 + below) * (5 * (len(shape) + 1) * b - 8 * a) // (5 * (len(shape) + 1) * b)


def plan(rows: Sequence[Row], laws: Sequence[Draws], room: Number, segments: int = 1) -> Plan:
    """A plan of much accepted mass. rows[i] is what node i is to emit, a part of a row; the nodes
    draw independently, by their laws; every outcome has `room`, at most 1, of its probability to
    give away.

    With one segment the accepted mass is the largest possible. With more, the sum of a concave
    piecewise linear value of the rates is, by `slope`: it prefers children with much below them, and
    alike rates for the same token. The value is an estimate; that the law is right does not rest on it.
    """
    if len(rows) == 1 and all(len(brood) == 1 for brood in laws[0]):
        return _single(rows[0], laws[0], room)
    return _plan(tuple(rows), tuple(laws), room, segments)


def _single(row: Row, law: Draws, room: Number) -> Plan:
    # One draw of one node: nothing competes with its token.
    mean = {(0, brood[0][0]): minimum(room * chance, row[brood[0][0]]) for brood, chance in law.items()}
    shares = {
        (brood,): {place: share(mass, room * chance)}
        for (brood, chance), (place, mass) in zip(law.items(), mean.items(), strict=True)
    }
    chances = {(brood,): chance for brood, chance in law.items()}
    return Plan(shares, mean, sum(mean.values(), room * 0), chances)


@remembered(4096)
def _plan(rows: tuple[Row, ...], laws: tuple[Draws, ...], room: Number, segments: int) -> Plan:
    net = Network()
    for i, row in enumerate(rows):
        for x, mass in enumerate(row):
            net.widen((i, x), SINK, mass)
    chance: dict[tuple[Brood, ...], Number] = {}
    given: dict[tuple[Brood, ...], dict[Place, list[Hashable]]] = {}  # by the nodes of its segments
    for joint in product(*(law.items() for law in laws)):
        key = tuple(brood for brood, _ in joint)
        chance[key] = prod((mass for _, mass in joint), start=one(rows[0]))
        whole = room * chance[key]
        net.widen(SOURCE, key, whole)
        given[key] = {}
        for i, x in dict.fromkeys((i, x) for i, brood in enumerate(key) for x, _ in brood):
            shape, *others = carriers(key[i], x)
            given[key][i, x] = nodes = []
            for value, width in _value(shape if segments > 1 else (), 1 + len(others), segments):
                nodes.append((key, i, x, len(nodes)))
                net.widen(key, nodes[-1], whole * width / segments)
                net.widen(nodes[-1], (i, x), whole, value)
    net.saturate(SOURCE, SINK)
    shares = {
        key: {
            place: share(sum((net.flow(key, node) for node in nodes), room * 0), room * chance[key])
            for place, nodes in places.items()
        }
        for key, places in given.items()
    }
    mean = {place: net.flow(place, SINK) for places in given.values() for place in places}
    return Plan(shares, mean, sum(mean.values(), room * 0), chance)


def _value(shape: tuple, copies: int, segments: int) -> Iterator[tuple[int, int]]:
    # (gain for a unit, width in n/segments of the outcome) of each segment of what a token is given.
    if not shape:
        yield 1000, segments
        return
    for n in range(segments):
        yield 1000 + slope(shape, 2 * n + 1, 2 * segments), copies


def split(p: Row, entries: Sequence[tuple[Entry, Number]], laws: Mapping[tuple, Draws]) -> list[Row]:
    """What a child is to emit, for every (entry, expected number of copies): rows of total mass `rate` whose
    mean over the entries is a multiple of p, chosen so that as much as possible of them can be drafted below.

    An entry of a shape that drafts more, or of a higher rate, takes tokens that the others would
    leave undrafted. laws[shape] is the law of the brood. First as much as multiples of p allow.
    """
    if len(entries) == 1:
        return [scale(rate, p) for (_, rate), _ in entries]
    return _split(p, tuple(entries), tuple(laws.items()))


@remembered(4096)
def _split(
    p: Row,
    entries: tuple[tuple[Entry, Number], ...],
    laws: tuple[tuple[tuple, Draws], ...],
) -> list[Row]:
    zero = p[0] * 0
    net = Network()
    tokens = range(len(p))
    whole = sum((weight * rate for (_, rate), weight in entries), zero)
    for x, mass in enumerate(p):
        net.widen(x, SINK, whole * mass, 1)
    for n, ((shape, rate), weight) in enumerate(entries):
        entry = ENTRY, n
        net.widen(SOURCE, entry, weight * rate)
        for brood, chance in dict(laws)[shape].items():
            net.widen(entry, (entry, brood), weight * chance)
            for x in {x for x, _ in brood}:
                net.widen((entry, brood), (entry, x), weight * chance)
        for x, mass in enumerate(p):
            net.widen((entry, x), x, weight * rate * mass)
    net.saturate(SOURCE, SINK)
    for n, (_, weight) in enumerate(entries):
        for x in tokens:
            net.widen(((ENTRY, n), x), x, weight)
    net.saturate(SOURCE, SINK)
    rest = tuple([positive(whole * mass - net.flow(x, SINK)) for x, mass in enumerate(p)])
    rows = []
    for n, ((_, rate), weight) in enumerate(entries):
        drafted = tuple([net.flow(((ENTRY, n), x), x) for x in tokens])
        missing = positive(weight * rate - total(drafted))
        rows.append(scale(1 / weight, add(drafted, scale(share(missing, total(rest)), rest))))
    return rows
