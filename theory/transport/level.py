"""Plans that carry target mass to the children which the nodes of one level drew.

A plan depends on the laws of the level's draws and on the shapes below, never on tokens drawn further
down: what verification decides about a level must not depend on draws of which it does not know the law.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from typing import TypeAlias

from draftproof.theory.memo import Key, remembered
from draftproof.theory.rows import Number, Row, add, excess, minimum, one, positive, scale, share, total
from draftproof.theory.transport.flow import Network
from draftproof.theory.transport.siblings import SiblingLaw, Siblings

Place: TypeAlias = tuple[int, int]
"""(index of a node, token below it)."""
Entry: TypeAlias = tuple[tuple, Number]
"""(shape below a child, rate at which the child is entered)."""

SOURCE, SINK, ENTRY = "source", "sink", "entry"


@dataclass(frozen=True)
class Plan:
    """What each joint outcome of the nodes' draws gives to the drafted tokens.

    `rate[outcome][place]` is given to the token of that place in this outcome, a probability; `mean[place]`
    is its expectation and `accepted` the sum of those; `probability[outcome]` is the outcome's.
    """

    rate: Mapping[tuple[Siblings, ...], Mapping[Place, Number]]
    mean: Mapping[Place, Number]
    accepted: Number
    probability: Mapping[tuple[Siblings, ...], Number]

    def given(self, drawn: Siblings) -> dict[int, Number]:
        """What a plan of one node gives to each token that the node drew."""
        return {x: mass for (_, x), mass in self.rate[drawn,].items()}

    def residual(self, index: int, row: Row) -> Row:
        """What the plan leaves of node `index`'s target row."""
        return excess(row, tuple([self.mean.get((index, x), mass * 0) for x, mass in enumerate(row)]))

    def entries(self, index: int, token: int) -> list[tuple[Entry, Number]]:
        """How a token below node `index` can be entered, and the expected number of copies that are."""
        out: dict[Key, Number] = {}
        for joint, rates in self.rate.items():
            if rate := rates.get((index, token)):
                copies = carriers(joint[index], token)
                for shape in copies:
                    entry = Key((shape, rate / len(copies)))
                    known = out.get(entry)
                    chance = self.probability[joint]
                    out[entry] = chance if known is None else known + chance
        return [(entry.arguments, copies) for entry, copies in out.items()]


@lru_cache(4096)
def carriers(drawn: Siblings, token: int) -> tuple[tuple, ...]:
    """Shapes of the copies of a token that carry its mass in equal parts: those that are worth most."""
    copies = [shape for x, shape in drawn if x == token]
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


def plan(rows: Sequence[Row], laws: Sequence[SiblingLaw], left: Number, segments: int = 1) -> Plan:
    """A plan of much accepted mass. rows[i] is what node i is to emit, a part of a row; the nodes
    draw independently, by their laws; each outcome can give away `left`, at most 1, of its probability.

    With one segment the accepted mass is the largest possible. With more, the sum of a concave
    piecewise linear value of the rates is, by `slope`: it prefers children with much below them, and
    equal rates for the same token. The value is an estimate; that the law is right does not rest on it.
    """
    if len(rows) == 1 and all(len(drawn) == 1 for drawn in laws[0]):
        return _single(rows[0], laws[0], left)
    return _plan(tuple(rows), tuple(laws), left, segments)


def _single(row: Row, law: SiblingLaw, left: Number) -> Plan:
    # One draw of one node: nothing competes with its token.
    rates, mean = {}, {}
    for drawn, chance in law.items():
        token = drawn[0][0]
        mean[0, token] = minimum(left * chance, row[token])
        rates[drawn,] = {(0, token): share(mean[0, token], left * chance)}
    return Plan(
        rates, mean, sum(mean.values(), left * 0), {(drawn,): chance for drawn, chance in law.items()}
    )


@remembered(4096)
def _plan(rows: tuple[Row, ...], laws: tuple[SiblingLaw, ...], left: Number, segments: int) -> Plan:
    net = Network()
    for i, row in enumerate(rows):
        for x, mass in enumerate(row):
            net.widen((i, x), SINK, mass)
    probability: dict[tuple[Siblings, ...], Number] = {}
    segment: dict[tuple[Siblings, ...], dict[Place, list[Hashable]]] = {}  # the network's nodes of each place
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
    return Plan(rates, mean, sum(mean.values(), left * 0), probability)


def _value(shape: tuple, copies: int, segments: int) -> Iterator[tuple[int, int]]:
    # (gain for a unit, width in units of outcome / segments) of each piece of a token's value.
    if not shape:
        yield 1000, segments
        return
    for n in range(segments):
        yield 1000 + slope(shape, 2 * n + 1, 2 * segments), copies


def split(p: Row, entries: Sequence[tuple[Entry, Number]], laws: Mapping[tuple, SiblingLaw]) -> list[Row]:
    """What a child is to emit, for every (entry, expected number of copies): rows of total mass `rate` whose
    mean over the entries is a multiple of p, chosen so that as much as possible of them can be drafted below.

    An entry of a shape that drafts more, or of a higher rate, takes tokens that the others would
    leave undrafted. laws[shape] is the law of what the child draws. First each entry stays within its
    multiple of p; a second flow lifts that limit.
    """
    if len(entries) == 1:
        return [scale(rate, p) for (_, rate), _ in entries]
    return _split(p, tuple(entries), tuple(laws.items()))


@remembered(4096)
def _split(
    p: Row, entries: tuple[tuple[Entry, Number], ...], laws: tuple[tuple[tuple, SiblingLaw], ...]
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
        for drawn, chance in dict(laws)[shape].items():
            net.widen(entry, (entry, drawn), weight * chance)
            for x in {x for x, _ in drawn}:
                net.widen((entry, drawn), (entry, x))
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
