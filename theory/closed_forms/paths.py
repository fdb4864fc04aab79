"""Closed forms of E[tau] on K paths merged by prefix, for rules that go down node by node.

With a(x, n) the mass with which a node with K paths accepts token x when n of them go on to x,

    E(v, K) = sum over x, n of a(x, n) (1 + E(vx, n)).

The K tokens below a node are i.i.d., and what happens below x depends on how many of them are x.
"""

from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from typing import TypeAlias

from flint import fmpq

from theory.instance import Instance
from theory.numbers import ONE, ZERO
from theory.races import target_law
from theory.rows import Prefix, Row, share
from theory.transport.resolution import resolve
from theory.transport.selection import Plan, canonical, optimal_rule

Accepted: TypeAlias = Iterator[tuple[int, int, fmpq]]
"""(token x, paths n that go on to it, mass a(x, n))."""

Rule: TypeAlias = Callable[[Row, Row, int], Accepted]
"""What a node with rows p, q and that many paths accepts."""


def by_paths(rule: Rule) -> Callable[[Instance], fmpq]:
    """E[tau] on paths merged by prefix, where the rule says how many of them go on."""

    def form(instance: Instance) -> fmpq:
        def mean(prefix: Prefix, count: int) -> fmpq:
            accepted: dict[tuple[int, int], fmpq] = {}
            for x, n, mass in rule(instance.target[prefix], instance.proposal[prefix], count):
                accepted[x, n] = accepted.get((x, n), ZERO) + mass
            out = sum(accepted.values(), ZERO)
            if len(prefix) + 1 < instance.draft.depth:
                out += sum((mass * mean((*prefix, x), n) for (x, n), mass in accepted.items() if mass), ZERO)
            return out

        return mean((), instance.draft.count)  # type: ignore[attr-defined]

    return form


def gls(p: Row, q: Row, count: int) -> Accepted:
    """Pr(Y = y and n drafts are y), by the law of the races."""
    for drafts, _ in _drafts(q, count):
        law = target_law(p, q, drafts)
        yield from ((y, drafts.count(y), law[y]) for y in set(drafts))


def optimal_transport(p: Row, q: Row, count: int) -> Accepted:
    """S(x, t) / Pr(t) of the drafts of every set t."""
    rule = optimal_rule(p, q, count, True)
    for drafts, mass in _drafts(q, count):
        drawn = frozenset(drafts)
        for x, part in rule.plan[drawn].items():
            yield x, drafts.count(x), mass * part / rule.draws[drawn]


def khisti(p: Row, q: Row, count: int) -> Accepted:
    """The selected token's share min(1, p/d), d its law."""
    selection = canonical(p, q, count, True)
    return _selected(p, q, count, selection.weights, selection.law)


def global_resolution(p: Row, q: Row, count: int) -> Accepted:
    """The same of the token that the softmax rule selects."""
    found = resolve(p, q, count)
    return _selected(p, q, count, found.weights, found.law)


def _drafts(q: Row, count: int) -> Iterator[tuple[tuple[int, ...], fmpq]]:
    # (tokens, probability) of i.i.d. draws.
    for drafts in product([x for x, mass in enumerate(q) if mass > ZERO], repeat=count):
        yield drafts, prod((q[x] for x in drafts), start=ONE)


def _selected(p: Row, q: Row, count: int, weights: Plan, law: Row) -> Accepted:
    for drafts, mass in _drafts(q, count):
        for x, part in weights[frozenset(drafts)].items():
            yield x, drafts.count(x), mass * part * share(p[x], law[x])


FORMS = {
    ("gls", "paths"): by_paths(gls),
    ("optimal-transport", "paths"): by_paths(optimal_transport),
    ("khisti", "paths"): by_paths(khisti),
    ("global-resolution", "paths"): by_paths(global_resolution),
}
