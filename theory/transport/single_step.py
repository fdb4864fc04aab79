"""Single-step multi-draft transport (OTM): one node's drafted tokens against one target token.

Variables S(i, t) >= 0, the mass with which the drawn tokens t yield token i of t; sum_t S(i, t) <=
p(i), sum_i S(i, t) <= Pr(t); maximise the sum. As a `Transport`: t to i, reward 1 where i is in t
(sun2023spectr, Section 3; hu2025towards, Section 3). Its optimum alpha* is also

    1 + min over sets H of tokens of  p(H) - Pr(all drafts in H)        (hu2025towards, Theorem 3)

and for i.i.d. draws, and draws without replacement, some prefix of the tokens sorted by q/p,
largest first, is a minimiser (hu2025towards, Section 4). Rows may hold rationals or floats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, combinations
from typing import Any, TypeAlias

import numpy as np

from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Number, Row, excess, meet, minimum, normalise, one, supported, total
from draftproof.theory.shared.memo import remembered
from draftproof.theory.transport.certificate import Transport
from draftproof.theory.transport.flow import Network
from draftproof.theory.transport.siblings import SetLaw, set_law

Plan: TypeAlias = Mapping[frozenset[int], Mapping[int, Number]]
"""S(i, t): drawn set t -> token i of t -> mass."""


def problem(p: Row, draws: SetLaw) -> Transport:
    """The single-step problem as an exact transport; p is a rational row."""
    tokens = [x for x, mass in enumerate(p) if mass > 0]
    rewards = np.array([[x in t for x in tokens] for t in draws], dtype=np.int64)
    return Transport(tuple(draws.values()), tuple(p[x] for x in tokens), rewards)


def subset_formula(p: Row, draws: SetLaw) -> Any:
    """alpha* of any draws: 1 plus the least p(H) - Pr(all drafts in H) over all 2^V sets H of tokens."""
    least = zero = p[0] - p[0]
    for H in chain.from_iterable(combinations(range(len(p)), size) for size in range(1, len(p) + 1)):
        drawn = sum((mass for t, mass in draws.items() if t.issubset(H)), zero)
        least = minimum(least, sum((p[x] for x in H), zero) - drawn)
    return one(p) + least


def alpha(p: Row, q: Row, k: int, replacement: bool) -> tuple[Any, tuple[int, ...]]:
    """(alpha*, minimising H) for k draws from q: the subset formula along its greedy prefixes.

    O(V log V), except for draws without replacement, whose sets are listed.

    >>> from draftproof.theory.numbers import exact
    >>> p, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    >>> alpha(p, q, 2, replacement=True)
    (8/9, (0,))
    """
    # By q/p, largest first; p = 0 counts as infinite, ties by id.
    order = sorted(range(len(p)), key=lambda x: (p[x] > 0, -q[x] / p[x] if p[x] > 0 else x))
    masses = list(accumulate(p[x] for x in order))
    value, n = of_prefixes(masses, prefix_draws(q, order, k, replacement)[1:])
    return value, tuple(order[:n])


def of_prefixes(masses: Sequence[Number], drawn: Sequence[Number]) -> tuple[Any, int]:
    """(1 + the least of p(H) - Pr(all drafts in H), the length of that H) over the empty set and the prefixes
    H of some order, given both numbers of every prefix.
    """
    least, shortest = masses[0] - masses[0], 0
    for n, (mass, draws) in enumerate(zip(masses, drawn, strict=True), 1):
        if mass - draws < least:
            least, shortest = mass - draws, n
    return one((least,)) + least, shortest


def prefix_draws(q: Row, order: list[int], k: int, replacement: bool) -> list[Number]:
    """Pr(all k drafts among the first n tokens of `order`) for n = 0 .. V."""
    if k < 1:
        raise BadInput(f"a draft has at least one token, not {k}")
    zero = q[0] - q[0]
    mass = list(accumulate((q[x] for x in order), initial=zero))
    if not supported(q):
        raise BadInput("nothing can be drawn from a proposal row without mass")
    if replacement or k == 1:
        return [number**k for number in mass]
    rank = {x: n for n, x in enumerate(order, 1)}
    out = [zero] * (len(order) + 1)
    for t, part in set_law(q, k, False).items():
        out[max(rank[x] for x in t)] += part
    return list(accumulate(out))


def inclusion_bound(p: Row, pi: Row) -> Number:
    """sum min(p, pi), where pi(x) is how often siblings are x on average: no rule at a node accepts more.

    Y is x with probability p(x), and a drafted x at most with Pr(x is drafted) <= pi(x). It is alpha* with
    the constraints of single tokens alone; alpha* itself for Hu et al.'s draft (hu2025towards, Section 5).

    >>> from draftproof.theory.numbers import exact
    >>> p, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    >>> inclusion_bound(p, tuple(2 * mass for mass in q))
    1
    """
    return total(meet(p, pi))


def max_flow(draws: SetLaw, p: Row) -> Plan:
    """The largest flow from drawn sets to their tokens within Pr(t) and p(i)."""
    net = Network()
    for x, mass in enumerate(p):
        net.widen(x, "target", mass, 1)
    for t, mass in sorted(draws.items(), key=lambda item: (len(item[0]), sorted(item[0]))):
        net.widen("draft", t, mass)
        for x in sorted(t):
            net.widen(t, x)
    net.saturate("draft", "target")
    return {t: {x: mass for x in sorted(t) if (mass := net.flow(t, x)) > 0} for t in draws}


def emitted(plan: Plan, like: Row) -> Row:
    """The mass that a plan gives to each token."""
    row = [like[0] - like[0]] * len(like)
    for masses in plan.values():
        for x, mass in masses.items():
            row[x] = row[x] + mass
    return tuple(row)


@dataclass(frozen=True)
class Rule:
    """A rule for the drawn set t: accept child i with probability S(i, t) / Pr(t), else Y ~ residual."""

    draws: SetLaw
    plan: Plan
    residual: Row


@remembered(4096)
def optimal_rule(p: Row, q: Row, k: int, replacement: bool) -> Rule:
    """An optimal plan for k draws from q, and the residual norm(p - mass emitted by the plan).

    >>> from draftproof.theory.numbers import exact
    >>> p, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    >>> rule = optimal_rule(p, q, 2, True)
    >>> sum((mass for kept in rule.plan.values() for mass in kept.values()), exact(0)), rule.residual
    (8/9, (0, 1))
    """
    draws = set_law(q, k, replacement)
    plan = max_flow(draws, p)
    return Rule(draws, plan, normalise(excess(p, emitted(plan, p))))


@dataclass(frozen=True)
class Selection:
    """The canonical decomposition: choose i from t by the row `weights[t]`, then verify i ~ law alone."""

    weights: Mapping[frozenset[int], Row]
    law: Row


@remembered(4096)
def canonical(p: Row, q: Row, k: int, replacement: bool) -> Selection:
    """An optimal selection: the maximum flow, with each set's unused mass spread evenly over its tokens.

    The selected token's law d has sum min(p, d) = alpha*, so token verification of it is an
    optimal rule (khisti2025multidraft, Theorem 1).
    """
    draws = set_law(q, k, replacement)
    weights: dict[frozenset[int], Row] = {}
    for t, kept in max_flow(draws, p).items():
        rest = sum((-part for part in kept.values()), draws[t]) / len(t)
        weights[t] = tuple([(kept.get(x, 0 * rest) + rest * (x in t)) / draws[t] for x in range(len(p))])
    return Selection(weights, selected_law(weights, draws))


def selected_law(weights: Mapping[frozenset[int], Row], draws: SetLaw) -> Row:
    """The law of the token that the weights select from the drawn set."""
    columns = zip(*([draws[t] * part for part in row] for t, row in weights.items()), strict=True)
    return tuple([sum(column[1:], column[0]) for column in columns])
