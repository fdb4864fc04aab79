"""Closed forms of E[tau] on K paths merged by prefix, for rules that go down node by node.

With a(x, n) the mass with which a node with K paths accepts token x when n of them go on to x,

    E(v, K) = sum over x, n of a(x, n) (1 + E(vx, n)).

The K tokens below a node are i.i.d., and what happens below x depends on how many of them are x.
"""

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import TypeAlias

from flint import fmpq

from draftproof.theory.closed_forms.nodes import by_nodes
from draftproof.theory.drafts.shape import Shape
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.races import target_law
from draftproof.theory.rows import Row, share
from draftproof.theory.transport.resolution import resolve
from draftproof.theory.transport.selection import Plan, canonical, optimal_rule

Accepted: TypeAlias = Iterator[tuple[int, int, fmpq]]
"""(token x, paths n that go on to it, mass a(x, n))."""


def go_on(shape: Shape, n: int) -> Shape:
    """What is below a token that n of a node's paths go on to, all of one length.

    >>> go_on((((),), ((),), ((),)), 2)
    ((), ())
    """
    return shape[0] * n


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
    (name, "paths"): by_nodes(rule, below=go_on)
    for name, rule in {
        "gls": gls,
        "optimal-transport": optimal_transport,
        "khisti": khisti,
        "global-resolution": global_resolution,
    }.items()
}
