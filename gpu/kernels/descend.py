"""From an entered node down the tree, as long as no sum over the vocabulary is needed."""

import triton
import triton.language as tl

from draftproof.gpu.kernels.bounds import fails
from draftproof.gpu.kernels.common import (
    COINS,
    CUT,
    LARGEST,
    MASS,
    PP,
    QQ,
    RATE,
    RATES,
    REST,
    excess,
    next_child,
    share,
)


@triton.jit
def accept(f, rate, noise, turn, stop, RULE: tl.constexpr):
    """Lowers `stop` to the turn of node f, which has no child left to try, if f is accepted."""
    accepted = (f == 0) | (tl.load(noise + f) < rate)
    if RULE == COINS:
        accepted = f >= 0
    if accepted:
        tl.atomic_min(stop, tl.load(turn + f).to(tl.int32), sem="relaxed")  # nothing is published with it


@triton.jit
def attempt(f, child, rate, cut, mass, rest, last, state, noise, due, round, N, RULE: tl.constexpr):
    """The rate at which f's child is entered; makes its rejection due in the next round if that matters.

    It does not matter if the child is accepted by its coin, or if it is f's last child and f's own coin fails
    at any possible rate: S <= a - min(a p, q) at the child's token bounds f's rate.
    """
    drafted = tl.load(state + QQ * N + child)
    p = excess(tl.load(state + PP * N + child), cut, drafted) * rest
    q = drafted * mass
    if RULE == COINS:
        entered = tl.where(tl.load(noise + child) < share(p, q), 1.0, 0.0)
        matters = entered == 0
    else:
        if RULE == RATES:
            entered = share(rate * p, q)
        else:
            entered = tl.where(p > 0, tl.minimum(rate * p / q, LARGEST), 0.0)
        shared = drafted / rest * tl.minimum(entered, 1.0)
        rejected = (f > 0) & last & fails(tl.load(noise + f), rate, shared)
        matters = (rate > 0) & (rejected == 0)
    if matters:
        tl.store(due + child, round + 1)
    return entered


@triton.jit
def enter(
    v, rate, parent_of, ids, state, noise, turn, stop, due, round, N, RULE: tl.constexpr,
    NODES: tl.constexpr,
):  # fmt: skip
    """Enters node v with this rate, then its first child, then that child's first child, down to a leaf."""
    while v < NODES:
        tl.store(state + RATE * N + v, rate)
        tl.store(state + CUT * N + v, 0.0)
        tl.store(state + MASS * N + v, 1.0)
        tl.store(state + REST * N + v, 1.0)
        child = next_child(v, 0, parent_of, ids, NODES)
        entered = tl.full([], 0.0, tl.float32)
        if child < NODES:
            last = next_child(v, child, parent_of, ids, NODES) == NODES
            entered = attempt(v, child, rate, 0.0, 1.0, 1.0, last, state, noise, due, round, N, RULE)
        else:
            accept(v, rate, noise, turn, stop, RULE)
        v = tl.where(entered > 0, child, NODES)
        rate = entered
