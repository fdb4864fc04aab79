"""The optimum of a node in classes: sums over classes of tokens are all that a plan needs of two rows.

Tokens lie in classes by the ratio of p and the siblings' own row. A sibling between two edges takes the
*place* of the upper or the lower edge by a coin whose mean is its ratio, as if a token were two whose ratios
are edges. Scaling p by the entry rate a moves no token, so a lift sums once. i.i.d. siblings share the
places, others have their own: of a token that two strata share each has its part of p.

Every place speaks at a *time*; the first drawn sibling that speaks is kept, with a rate. By descending keys
no set of places that begin the order is kept more often than it is drafted, g, and none more than its cap:
the running minimum of both is the optimum's own cumulative sum. i.i.d. siblings reach it since places that
would be kept too often lend their times to later ones, first come first served. Other siblings reach it
nearly: between two moments at which the minimum is g, a place may pass, and if all pass the first is kept.
Where earlier i.i.d. siblings have more below them, a lift has the priority rule: place by place, sibling by
sibling, as much as the cap has left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any, TypeAlias

from flint import fmpq

from draftproof.theory.draft import Draft, Node
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, share, total
from draftproof.theory.shared.memo import remembered
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop
from draftproof.theory.verifiers.lifted_priority import lifted
from draftproof.theory.verifiers.optimal import descend
from draftproof.theory.verifiers.shared.optimal import ranked
from draftproof.theory.verifiers.shared.priority import included

SHARED, OWN = 256, 64
"""How many classes i.i.d. siblings have, and how many each of other siblings has."""

ROUNDS = 16
"""How often the chances of passing are improved. Any chances are lossless."""

GRID = 2**64
"""Chances are multiples of 1 / GRID, so that numbers stay short."""

SLACK = fmpq(1, 2**20)
"""A gap that counts as none, so that rounding does not decide."""

Place: TypeAlias = tuple[int, int]
"""(row, class)."""
Judged: TypeAlias = tuple[Mapping[Place, Mapping[int, fmpq]], Mapping[Place, fmpq], Mapping[Place, fmpq]]
"""`Plan.at`, `Plan.rate`, and how often each place is kept."""


def edge(k: int, count: int) -> fmpq:
    """The lower edge of class k: where ratio / (1 + ratio) is k / count."""
    return fmpq(k, count - k)


def split(ratio: fmpq, count: int) -> dict[int, fmpq]:
    """The places that a token takes, by class, and how likely; above the highest edge it is cut off.

    >>> split(fmpq(1), 4), split(fmpq(1, 2), 4), split(fmpq(99), 4)
    ({2: 1}, {1: 3/4, 2: 1/4}, {3: 1})
    """
    k = min(int((count * ratio / (1 + ratio)).floor()), count - 1)
    low = edge(k, count)
    if k == count - 1 or ratio == low:
        return {k: fmpq(1)}
    upper = (ratio - low) / (edge(k + 1, count) - low)
    return {k: 1 - upper, k + 1: upper}


@dataclass(frozen=True)
class Plan:
    """`parts[x]`: the places of token x, by class; `own`: whether each sibling has its own `at` and `rate`.
    `at[place][time]`: how likely a sibling in that place speaks then; `rate[place]`: the chance that it is
    kept if it is the first.
    """

    parts: Mapping[int, Mapping[int, fmpq]]
    own: bool
    at: Mapping[Place, Mapping[int, fmpq]]
    rate: Mapping[Place, fmpq]
    left: Row

    def shares(self, node: Node) -> list[tuple[Node, Any]]:
        """The drafted children in drawing order, with the probability that each is the one that is kept.

        Of those that speak at one time the first drawn one is kept; of the copies of a token the first one.
        """
        spoken: list[dict[int, fmpq]] = []
        kept: list[dict[int, fmpq]] = []
        for j, child in enumerate(node.children):
            spoken.append({})
            kept.append({})
            for k, part in self.parts[child.token].items():
                place = (j * self.own, k)
                for time, chance in self.at[place].items():
                    spoken[j][time] = spoken[j].get(time, 0) + part * chance
                    kept[j][time] = kept[j].get(time, 0) + part * chance * self.rate[place]
        shares = dict.fromkeys((child.token for child in node.children), fmpq(0))
        for j, child in enumerate(node.children):
            for time, mass in kept[j].items():
                others = (later(each, time, i < j) for i, each in enumerate(spoken) if i != j)
                shares[child.token] += mass * prod(others)
        return [(child, shares.pop(child.token, fmpq(0))) for child in node.children]


def later(spoken: Mapping[int, fmpq], time: int, strictly: bool) -> Any:
    """How likely a sibling has not spoken before a time, or then."""
    return 1 - sum((chance for at, chance in spoken.items() if at < time + strictly), fmpq(0))


def in_classes(draft: Draft, node: Node, t: Row, turns: bool = False) -> Plan:
    """The plan of a drafted node, t = a p."""
    return planned(t, draft.laws(node), draft.stratified or draft.greedy, turns)


def in_lift(draft: Draft, node: Node, t: Row) -> Plan:
    """The plan of a drafted node in a lift."""
    return in_classes(draft, node, t, draft.replacement and ranked(node.shape))


@remembered(4096)
def planned(t: Row, laws: tuple[Row, ...], own: bool, turns: bool) -> Plan:
    """The plan of siblings that are drawn independently from their laws, equal ones unless they are `own`;
    `turns`: by the priority rule.
    """
    a, count = total(t), OWN if own else SHARED
    rows = laws if own else laws[:1]
    pi = included(rows)
    ratio = {x: t[x] / (a * mass) if a > 0 else 0 * a for x, mass in enumerate(pi) if mass > 0}
    parts = {x: split(each, count) for x, each in ratio.items()}
    mass: dict[Place, fmpq] = {}
    each = [
        (j, k, x, part) for j, R in enumerate(rows) for x in parts if R[x] > 0 for k, part in parts[x].items()
    ]
    for j, k, x, part in each:
        mass[j, k] = mass.get((j, k), 0) + rows[j][x] * part
    cap = {place: a * edge(place[1], count) * m for place, m in mass.items()}
    if own:
        at, rate, kept = passing(mass, cap)
    else:
        at, rate, kept = (in_turn if turns else lending)(mass, cap, len(laws))
    left = list(t)
    for j, k, x, part in each:
        left[x] -= rows[j][x] * part / mass[j, k] * kept[j, k]
    return Plan(parts, own or turns, at, rate, tuple(left))


def sums(mass: Mapping[Place, fmpq], cap: Mapping[Place, fmpq], order: Sequence[Place], count: int) -> Any:
    """(drafted, kept): how often one of the places up to each in the order is drafted, and how often one is
    kept at the optimum; `count` siblings have each row.
    """
    rest = dict.fromkeys([j for j, _ in order], fmpq(1))
    drafted, kept = [], [fmpq(0)]
    for j, k in order:
        rest[j] = rest[j] - mass[j, k]
        drafted.append(1 - prod(rest.values()) ** count)
        kept.append(min(kept[-1] + cap[j, k], drafted[-1]))
    return drafted, kept[1:]


def steps(sums: Sequence[fmpq]) -> list[fmpq]:
    """The differences of neighbours, from 0."""
    return [after - before for before, after in zip([fmpq(0), *sums], sums, strict=False)]


def lending(mass: Mapping[Place, fmpq], cap: Mapping[Place, fmpq], count: int) -> Judged:
    """i.i.d. siblings: a place speaks at its own time, or at one that it was lent or got for it."""
    order = sorted(mass, reverse=True)
    drafted, kept = map(steps, sums(mass, cap, order, count))
    gaps = [d - a for d, a in zip(drafted, kept, strict=True)]
    spare, lack = (
        list(accumulate((max(sign * gap, 0) for gap in gaps), initial=fmpq(0))) for sign in (1, -1)
    )
    at: list[dict[int, fmpq]] = [{} for _ in order]
    lead = list(drafted)
    for c, low in enumerate(order):
        for s, high in enumerate(order[:c]):  # s lends its time to c
            moved = min(spare[s + 1], lack[c + 1]) - max(spare[s], lack[c])
            if moved > 0:
                swapped = moved / (drafted[s] / mass[high] - drafted[c] / mass[low])
                at[s][c], at[c][s] = swapped / mass[high], swapped / mass[low]
                lead[s], lead[c] = lead[s] - moved, lead[c] + moved
    for c, times in enumerate(at):
        times[c] = 1 - sum(times.values(), fmpq(0))
    return judged(order, at, lead, kept)


def judged(order: Sequence[Place], at: Any, lead: Any, kept: Any) -> Judged:
    """The rates with which places that lead so often are kept so often."""
    kept = [min(a, b) for a, b in zip(kept, lead, strict=True)]
    rate = [a / b if b > 0 else fmpq(1) for a, b in zip(kept, lead, strict=True)]
    at, rate, kept = (dict(zip(order, each, strict=True)) for each in (at, rate, kept))
    return at, rate, kept


def in_turn(mass: Mapping[Place, fmpq], cap: Mapping[Place, fmpq], count: int) -> Judged:
    """i.i.d. siblings by the priority rule: each is judged at its own time in every place."""
    at: dict[Place, dict[int, fmpq]] = {}
    rate, kept, silent = {}, {}, [fmpq(1)] * count
    for place in sorted(mass, reverse=True):
        left = cap[place]
        for j in range(count):
            most = mass[place] * prod(silent[:j] + silent[j + 1 :], start=fmpq(1))
            part = fmpq((share(left, most) * GRID).ceil(), GRID)
            at[j, place[1]] = {len(at): part}
            rate[j, place[1]] = share(left, part * most)
            left -= rate[j, place[1]] * part * most
            silent[j] -= part * mass[place]
        kept[place] = cap[place] - left
    return at, rate, kept


def passing(mass: Mapping[Place, fmpq], cap: Mapping[Place, fmpq]) -> Judged:
    """Siblings of any rows: a place passes with a chance, and if all pass the first is kept."""
    behind = {place: 1 - sum((m for (j, k), m in mass.items() if j == place[0] and k >= place[1]), fmpq(0))
              for place in mass}  # fmt: skip

    def turn(place: Place) -> tuple[int, int, int]:
        key = edge(place[1], OWN) * behind[place]
        return -int((256 * key / (1 + key) + fmpq(3, 10)).floor()), -place[1], place[0]

    order = sorted(mass, key=turn)
    drafted, kept = sums(mass, cap, order, 1)
    ends = [c for c, (g, a) in enumerate(zip(drafted, kept, strict=True)) if g - a <= SLACK]
    ends.append(len(order) - 1)
    starts = [0, *(end + 1 for end in ends)]
    block = [next(b for b, end in enumerate(ends) if c <= end) for c in range(len(order))]
    early = [c + starts[block[c]] for c in range(len(order))]
    late = [c + ends[block[c]] + 1 for c in range(len(order))]
    wanted = [a / mass[place] for a, place in zip(steps(kept), order, strict=True)]
    passes = [fmpq(0)] * len(order)
    for _ in range(ROUNDS):
        chance = leading(mass, order, early, late, passes)
        for c, want in enumerate(wanted):
            first, last = chance[early[c]], chance[late[c]]
            if first > last:
                change = min(max((first - want) / (first - last), fmpq(0)), fmpq(1))
                passes[c] = fmpq((change * GRID).floor(), GRID)
    chance = leading(mass, order, early, late, passes)
    at = [{early[c]: 1 - u, late[c]: u} for c, u in enumerate(passes)]
    lead = [mass[place] * sum((chance[time] * part for time, part in times.items()), fmpq(0))
            for place, times in zip(order, at, strict=True)]  # fmt: skip
    return judged(order, at, lead, [cap[place] for place in order])


def leading(mass: Any, order: Any, early: Any, late: Any, passes: Any) -> dict[int, fmpq]:
    """How likely a sibling that speaks at each time is the first."""
    events = {
        time: (place[0], mass[place] * (1 - u)) for place, time, u in zip(order, early, passes, strict=True)
    }
    events |= {time: (place[0], mass[place] * u) for place, time, u in zip(order, late, passes, strict=True)}
    rest = dict.fromkeys([j for j, _ in order], fmpq(1))
    found = {}
    for time in sorted(events):
        j, spoken = events[time]
        found[time] = prod((left for i, left in rest.items() if i != j), start=fmpq(1))
        rest[j] -= spoken
    return found


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Node by node. Children are entered in drawing order, each with its share of what earlier ones left."""
    return descend(oracle, draft, target, in_classes)


def verify_lifted(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """From leaf to root."""
    return lifted(oracle, draft, target, in_lift)
