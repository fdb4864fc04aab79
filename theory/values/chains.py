"""Closed forms of E[tau] for rules that verify a whole path."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from flint import fmpq

from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.rows import Prefix, Row, share
from draftproof.theory.transport.block import chain_optimum
from draftproof.theory.verifiers.multipath_block import ranking

State: TypeAlias = tuple[Any, ...]
"""The state that `_walk` passes down to a prefix."""


def block(instance: Instance) -> fmpq:
    """sum over l and x^l of q(x^l) w(x^l), w <- min(1, w p/q): the stateless optimum of a chain.

    Source: sun2025block, Theorem 2 and Lemma 3. The sum is the same for `hsd`; on a chain for `traversal` and
    the lifts, where one child takes min(a p, q) of the row a p and so is entered with rate w; and for
    `multipath-block` on one path, since the best of one path has the law q.
    """
    return sum((Q * w for Q, w in _walk(instance, (ONE, ONE), _weights)), ZERO)


def greedy_block(instance: Instance) -> fmpq:
    """sum over l and x^l of min(p(x^l), q(x^l)): the full-information optimum of a chain (sun2025block)."""
    return chain_optimum(instance.target, instance.proposal, instance.draft.depth)


def multipath_block(instance: Instance) -> fmpq:
    """sum over l and x^l of d(x^l) w(x^l), d the law of the best-ranked path, w <- min(1, w p/d).

    d(x^l) = C^K - (C - J)^K, J the q-mass of x^l and C that of the prefixes ranked at or below it
    (thomas2026multipath).
    """
    K = instance.draft.count  # type: ignore[attr-defined]
    states = _walk(instance, (ONE, ONE, ONE), lambda p, q, state: _ranked(p, q, state, K))
    return sum(((C**K - (C - J) ** K) * w for J, C, w in states), ZERO)


def _weights(p: Row, q: Row, state: State) -> Iterator[tuple[int, State]]:
    Q, w = state
    for x, mass in enumerate(q):
        if mass > ZERO:
            yield x, (Q * mass, share(w * p[x], mass))


def _ranked(p: Row, q: Row, state: State, K: int) -> Iterator[tuple[int, State]]:
    J, C, w = state
    whole = C**K - (C - J) ** K
    hi = C - J
    for x in ranking(p, q):
        lo, hi = hi, hi + J * q[x]
        yield x, (J * q[x], hi, share(w * p[x] * whole, hi**K - lo**K))


def _walk(
    instance: Instance, state: State, below: Callable[[Row, Row, State], Iterator[tuple[int, State]]]
) -> Iterator[State]:
    # The state that `below` passes down to every prefix that can be drafted; a last entry of 0 ends a branch.
    stack: list[tuple[Prefix, State]] = [((), state)]
    while stack:
        prefix, state = stack.pop()
        if prefix:
            yield state
        if len(prefix) < instance.draft.depth and state[-1] > ZERO:
            p, q = instance.target[prefix], instance.proposal[prefix]
            stack.extend(((*prefix, x), after) for x, after in below(p, q, state))
