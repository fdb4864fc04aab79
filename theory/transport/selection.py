"""Optimal single-step rules as plans: max flow, and Khisti et al.'s canonical decomposition."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from draftproof.theory.memo import remembered
from draftproof.theory.rows import Number, Row, excess, minimum, normalise
from draftproof.theory.transport.draws import Draws, with_replacement, without_replacement
from draftproof.theory.transport.rebuild import traced

Plan: TypeAlias = Mapping[frozenset[int], Mapping[int, Number]]
"""S(i, t): drawn set -> token of it -> mass."""


@dataclass(frozen=True)
class Rule:
    """What a verifier does with the drawn set t: child i with S(i, t) / Pr(t), else Y ~ residual."""

    draws: Draws
    plan: Plan
    residual: Row


@dataclass(frozen=True)
class Selection:
    """The canonical decomposition: choose i of t by `weights[t][i]`; i ~ law is verified as one draft."""

    weights: Plan
    law: Row


def drawn_law(q: Row, k: int, replacement: bool) -> Draws:
    """The law of the set of k draws from q."""
    return with_replacement(q, k) if replacement else without_replacement(q, k)


@remembered(4096)
def optimal_rule(p: Row, q: Row, k: int, replacement: bool) -> Rule:
    """An optimal plan for k draws from q, and the residual norm(p - what the plan emits).

    >>> from draftproof.theory.numbers import exact
    >>> p, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    >>> rule = optimal_rule(p, q, 2, True)
    >>> sum((mass for kept in rule.plan.values() for mass in kept.values()), exact(0)), rule.residual
    (8/9, (0, 1))
    """
    draws = drawn_law(q, k, replacement)
    plan = max_flow(draws, p)
    return Rule(draws, plan, normalise(excess(p, emitted(plan, p))))


@remembered(4096)
def canonical(p: Row, q: Row, k: int, replacement: bool) -> Selection:
    """An optimal selection: the max flow, and what a set has left spread evenly over its tokens.

    The selected token's law d has sum min(p, d) = alpha*, so token verification of it is an
    optimal rule (khisti2025multidraft, Theorem 1).
    """
    draws = drawn_law(q, k, replacement)
    plan = max_flow(draws, p)
    weights: dict[frozenset[int], dict[int, Number]] = {}
    for t, mass in draws.items():
        kept = plan[t]
        rest = sum((-part for part in kept.values()), mass) / len(t)
        weights[t] = {x: (kept[x] + rest if x in kept else rest) / mass for x in sorted(t)}
    selected = {t: {x: draws[t] * part for x, part in chosen.items()} for t, chosen in weights.items()}
    return Selection(weights, emitted(selected, p))


def emitted(plan: Plan, like: Row) -> Row:
    """The mass that a plan gives to each token."""
    row = [like[0] - like[0]] * len(like)
    for kept in plan.values():
        for x, mass in kept.items():
            row[x] = row[x] + mass
    return tuple(row)


def max_flow(draws: Draws, p: Row) -> Plan:
    """The largest flow from drawn sets to their tokens within Pr(t) and p(i), by augmenting paths.

    Shortest augmenting paths (edmonds1972theoretical) end for any ordered numbers: each one
    empties a set, fills a token or takes an edge back.
    """
    sets = sorted(draws, key=lambda t: (len(t), sorted(t)))  # the sets with the least choice go first
    flow: dict[frozenset[int], dict[int, Number]] = {t: {} for t in sets}
    left, room = dict(draws), list(p)
    for t in sets:
        for x in sorted(t):
            if left[t] > 0 and room[x] > 0:
                _push(flow, left, room, [(t, x)], minimum(left[t], room[x]))
    while path := _augmenting(flow, left, room):
        back = [(below, x) for (_, x), (below, _) in pairwise(path)]
        mass = minimum(left[path[0][0]], room[path[-1][1]])
        for t, x in back:
            mass = minimum(mass, flow[t][x])
        for t, x in back:
            flow[t][x] = flow[t][x] - mass
            if not flow[t][x] > 0:
                del flow[t][x]
        _push(flow, left, room, path, mass)
    return flow


def _push(
    flow: dict[frozenset[int], dict[int, Number]],
    left: dict[frozenset[int], Number],
    room: list[Number],
    path: list[tuple[frozenset[int], int]],
    mass: Number,
) -> None:
    for t, x in path:
        flow[t][x] = flow[t][x] + mass if x in flow[t] else mass
    first, last = path[0][0], path[-1][1]
    left[first], room[last] = left[first] - mass, room[last] - mass


def _augmenting(
    flow: dict[frozenset[int], dict[int, Number]], left: dict[frozenset[int], Number], room: list[Number]
) -> list[tuple[frozenset[int], int]]:
    # Edges (set, token) from a set with mass left to a token with room; between two of them the path
    # goes back from the first's token to the second's set. Empty when there is none.
    holders: dict[int, list[frozenset[int]]] = {}
    for t, kept in flow.items():
        for x in kept:
            holders.setdefault(x, []).append(t)
    queue = deque(t for t, mass in left.items() if mass > 0)
    seen, via, into = set(queue), dict[int, frozenset[int]](), dict[frozenset[int], int]()
    while queue:
        t = queue.popleft()
        for x in sorted(t):
            if x in via:
                continue
            via[x] = t
            if room[x] > 0:
                return traced(x, via, into)
            for holder in holders.get(x, ()):
                if holder not in seen:
                    seen.add(holder)
                    into[holder] = x
                    queue.append(holder)
    return []
