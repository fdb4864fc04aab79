"""The optimum of a node in classes: sums over classes of tokens are all that a plan needs of two rows.

Tokens lie in classes by the ratio of p and the siblings' own row. A sibling between two edges takes the
*place* of the upper or the lower edge by a coin whose mean is its ratio, as if a token were two whose ratios
are edges. Scaling p by the entry rate a moves no token, so a lift sums once. i.i.d. siblings share the
places, others have their own: of a token that two strata share each has its part of p.

Every place speaks at a *time*; the first drawn sibling that speaks is kept, with a rate. By descending keys
no set of places that begin the order is kept more often than it is drafted, g, and none more than its cap:
the running minimum of both is the optimum's own cumulative sum. i.i.d. siblings reach it since places that
would be kept too often lend their times to later ones, first come first served.

Other siblings *wait*. Let u be how likely those after sibling j are all silent yet. If j and those before it
are to be kept as often as their caps say, the later ones may lead with M_j(u) until then, no more:
M_0(u) = 1 - u, and M_j(u) is the least of M_{j-1}((1 - R_j(X)) u) - cap(X) over the highest places X of j
(the bound of border1991implementation). At u the places of the X that makes it least have spoken: each waits
until it leads as often as its cap, and the last sibling waits for nobody. Within a sibling places lend.

Where siblings are judged in turn (`shared.optimal.take_turns`) a lift has the priority rule: place by place,
each sibling some classes after the one before it, as much as the cap has left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import prod
from operator import mul
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq

from draftproof.theory.draft import Draft, Node
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, share, total
from draftproof.theory.shared.memo import remembered
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop
from draftproof.theory.verifiers.lifted_priority import lifted
from draftproof.theory.verifiers.optimal import descend
from draftproof.theory.verifiers.shared.optimal import take_turns
from draftproof.theory.verifiers.shared.priority import included

SHARED, OWN, FEW = 256, 256, 64
"""How many classes i.i.d. siblings have, how many each of other siblings has, and of a small vocabulary."""

TRIED = 16, 8, 4
"""Of how many sets of places the least is taken, between those of two neighbouring points, by round."""

LATER = 16
"""In turn, a sibling's places are judged one class in so many after those of the one before it."""

ROUNDS = 16
"""How often the batched priority rule improves its chances. Any chances are lossless."""

Place: TypeAlias = tuple[int, int]
"""(row, class)."""
Judged: TypeAlias = tuple[Mapping[Place, Mapping[int, fmpq]], Mapping[Place, fmpq], Mapping[Place, fmpq]]
"""`Plan.at`, `Plan.rate`, and how often each place is kept."""


def classes(own: bool, vocab: int) -> int:
    """How many classes a row has; a vocabulary is small up to 1,024 tokens."""
    return SHARED if not own else FEW if vocab <= 1024 else OWN


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
    known: dict[tuple[int, ...], dict[int, fmpq]] = field(default_factory=dict)

    def shares(self, node: Node) -> list[tuple[Node, Any]]:
        """The drafted children in drawing order, with the probability that each is the one that is kept.

        Of those that speak at one time the first drawn one is kept, if each has its own places at odd times
        the last drawn one; of the copies of a token the first one.
        """
        tokens = tuple(child.token for child in node.children)
        if tokens not in self.known:
            self.known[tokens] = self._shares(tokens)
        return [(child, self.known[tokens].get(j, fmpq(0))) for j, child in enumerate(node.children)]

    def _shares(self, tokens: tuple[int, ...]) -> dict[int, fmpq]:
        spoken: list[dict[int, fmpq]] = [{} for _ in tokens]
        for j, token in enumerate(tokens):
            for k, part in self.parts[token].items():
                for time, chance in self.at[j * self.own, k].items():
                    spoken[j][time] = spoken[j].get(time, 0) + part * chance
        times = sorted({time for each in spoken for time in each})
        silent = [
            list(accumulate((-each.get(time, 0) for time in times), initial=fmpq(1))) for each in spoken
        ]
        shares: dict[int, fmpq] = {}
        for j, token in enumerate(tokens):
            first = {}
            for n, time in enumerate(times):
                if time in spoken[j]:
                    before = ((i < j) != (self.own and time % 2) for i in range(len(tokens)))
                    others = (silent[i][n + spoke] for i, spoke in enumerate(before) if i != j)
                    first[time] = prod(others, start=fmpq(1))
            for k, part in self.parts[token].items():
                place = (j * self.own, k)
                lead = sum((chance * first[time] for time, chance in self.at[place].items()), fmpq(0))
                copy = tokens.index(token)
                shares[copy] = shares.get(copy, 0) + part * self.rate[place] * lead
        return shares


def in_classes(draft: Draft, node: Node, t: Row, turns: bool = False) -> Plan:
    """The plan of a drafted node, t = a p."""
    return planned(t, draft.laws(node), draft.stratified or draft.greedy, turns)


@remembered(4096)
def planned(t: Row, laws: tuple[Row, ...], own: bool, turns: bool) -> Plan:
    """The plan of siblings that are drawn independently from their laws, equal ones unless they are `own`;
    `turns`: by the priority rule.
    """
    a, count = total(t), classes(own, len(t))
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
    if turns:
        every = [(j, place) for place in mass for j in range(len(laws)) if not own or j == place[0]]
        at, rate, kept = in_turn(mass, cap, every, count // LATER)
    else:
        at, rate, kept = waiting(mass, cap, count) if own else lending(mass, cap, len(laws))
    left = list(t)
    for j, k, x, part in each:
        left[x] -= rows[j][x] * part / mass[j, k] * kept[j, k]
    return Plan(parts, own or turns, at, rate, tuple(left))


def lending(mass: Mapping[Place, fmpq], cap: Mapping[Place, fmpq], count: int) -> Judged:
    """i.i.d. siblings: a place speaks at its own time, or at one that it was lent or got for it."""
    order = sorted(mass, reverse=True)
    silent = accumulate((-mass[place] for place in order), initial=fmpq(1))
    return lent(order, mass, cap, [before**count - after**count for before, after in pairwise(silent)])


def lent(order: Sequence[Place], mass: Any, cap: Any, drafted: Sequence[fmpq]) -> Judged:
    """Of places, each with a time, its number; `drafted`: how often each would lead at its own."""
    sums = [fmpq(0)]
    for place, most in zip(order, accumulate(drafted), strict=True):
        sums.append(min(sums[-1] + cap[place], most))
    kept = [after - before for before, after in pairwise(sums)]
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
    kept = [min(a, b) for a, b in zip(kept, lead, strict=True)]
    rate = [a / b if b > 0 else fmpq(1) for a, b in zip(kept, lead, strict=True)]
    return tuple(dict(zip(order, each, strict=True)) for each in (at, rate, kept))  # type: ignore[return-value]


def in_turn(
    mass: Mapping[Place, fmpq], cap: Mapping[Place, fmpq], every: Sequence[tuple[int, Place]], later: int
) -> Judged:
    """The priority rule: `every` sibling with its places, each `later` classes after the one before it."""
    at: dict[Place, dict[int, fmpq]] = {}
    rate, left, silent = {}, dict(cap), {j: fmpq(1) for j, _ in every}
    for j, place in sorted(every, key=lambda turn: (turn[0] * later - turn[1][1], turn[0])):
        own = j, place[1]
        most = mass[place] * prod((each for i, each in silent.items() if i != j), start=fmpq(1))
        part = fmpq((share(left[place], most) * 2**64).ceil(), 2**64)  # a short number
        at[own] = {len(at): part}
        rate[own] = share(left[place], part * most)
        left[place] -= rate[own] * part * most
        silent[j] -= part * mass[place]
    return at, rate, {place: cap[place] - left[place] for place in mass}


def waiting(mass: Mapping[Place, fmpq], cap: Mapping[Place, fmpq], count: int) -> Judged:
    """Siblings of any rows, with `count` classes: each speaks at one of 2 `count` times."""
    rows = [
        sorted((place for place in mass if place[0] == j), reverse=True) for j in sorted({j for j, _ in mass})
    ]
    drafted = [list(accumulate((mass[place] for place in row), initial=fmpq(0))) for row in rows]
    wanted = [np.cumsum([0, *(float(cap[place]) for place in row)]) for row in rows]
    path = together([1 - np.array(each, dtype=float) for each in drafted], wanted, count)
    silent = [[fmpq(*x.as_integer_ratio()) for x in each] + [1 - ends[-1]]
              for each, ends in zip(path.tolist(), drafted, strict=True)]  # fmt: skip
    at, rate, kept = {}, {}, {}
    for j, (row, ends) in enumerate(zip(rows, drafted, strict=True)):
        others = [[silent[i][time + ((i < j) != time % 2)] for i in range(len(rows)) if i != j]
                  for time in range(2 * count)]  # fmt: skip
        first = [prod(each, start=fmpq(1)) for each in others]
        spoken = [1 - each for each in silent[j]]
        # How likely each place speaks at each time, by its part of the row, which speaks in its order.
        laws = [[max(min(high, b) - max(low, a), fmpq(0)) / (high - low) for a, b in pairwise(spoken)]
                for low, high in pairwise(ends)]  # fmt: skip
        leads = [
            sum(map(mul, law, first), fmpq(0)) * mass[place] for law, place in zip(laws, row, strict=True)
        ]
        swapped, rates, sums = lent(row, mass, cap, leads)
        for place, times in swapped.items():
            mixed = (sum((chance * laws[c][time] for c, chance in times.items()), fmpq(0))
                     for time in range(2 * count))  # fmt: skip
            at[place] = {time: chance for time, chance in enumerate(mixed) if chance > 0}
        rate, kept = {**rate, **rates}, {**kept, **sums}
    return at, rate, kept


def together(left: Sequence[np.ndarray], want: Sequence[np.ndarray], count: int) -> np.ndarray:
    """[row, time], float64, of which any that falls is lossless: how likely each sibling is silent yet.
    `left`, `want`: what its highest places leave of 1, and how often they are to be kept.
    """
    u = (1 - np.arange(2 * count) / (2 * count)) ** 2
    bound, path = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]), []
    for each, wanted in zip(left[:-1], want[:-1], strict=True):
        speaks, ends, bound = lowered(bound, each, wanted, count)
        begins = np.minimum.accumulate((speaks[:-1] * ends[1:])[::-1])
        last = len(begins) - np.searchsorted(-begins, -u)
        now = np.maximum(ends[last], u / speaks[last])
        path.append(np.minimum.accumulate(np.minimum(now, 1)))
        u = np.minimum(u / path[-1], 1)
    return np.stack([*path, np.minimum.accumulate(u)])


def lowered(bound: np.ndarray, left: np.ndarray, want: np.ndarray, count: int) -> tuple[np.ndarray, ...]:
    """(speaks, ends, bound) of the next sibling: it is silent with ends[i] at bound[0, i], and speaks between
    two such points when those after it are silent with chance speaks[i]; `bound`: of those up to it.

    A bound is concave: at the points bound[0] the lines bound[1] - bound[2] u touch it. New points are where
    neighbouring lines cross, once for each of `TRIED`.
    """

    def least(u: np.ndarray, sets: np.ndarray) -> np.ndarray:
        x = left[sets] * u[:, None]
        i = np.clip(np.searchsorted(bound[0], x, side="right") - 1, 0, bound.shape[1] - 2)
        below, above = (bound[1, n] - bound[2, n] * x for n in (i, i + 1))
        value = np.minimum(below, above) - want[sets]
        fall = np.where(below < above, bound[2, i], bound[2, i + 1]) * left[sets]
        each = np.arange(len(u)), value.argmin(1)
        return np.stack((u, value[each] + fall[each] * u, fall[each], sets[each]))

    points = np.linspace(0, 1, max(count // 4, 1) + 1)
    sets = np.tile(np.arange(len(left)), (len(points), 1))
    sets[0], sets[-1] = len(left) - 1, 0
    found = least(points, sets)
    for tried in (*TRIED, 0):
        (u, *_, chosen), steps = found, np.diff(found)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossed = np.clip(np.nan_to_num(steps[1] / steps[2]), u[:-1], u[1:])
        if tried:
            low, more = chosen[1:, None].astype(int), -steps[3, :, None].astype(int)
            new = least(crossed, low + more * np.arange(tried) // (tried - 1))
            found = np.insert(found, range(1, len(u)), new, axis=1)
    return np.append(crossed, 1), left[chosen.astype(int)], found[:3]


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Node by node. Children are entered in drawing order, each with its share of what earlier ones left."""
    return descend(oracle, draft, target, in_classes)


def verify_lifted(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """From leaf to root."""
    return lifted(oracle, draft, target, lambda d, v, t: in_classes(d, v, t, take_turns(d, v)))
