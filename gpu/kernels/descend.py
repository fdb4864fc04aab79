"""Down from a node that is entered, as far as no sum over the vocabulary is needed.

`parent_of` and `ids` hold, for all nodes at once, the parent and the drawn token, -1 where none.
"""

import triton
import triton.language as tl

from draftproof.gpu.kernels.bounds import hopeless, share
from draftproof.gpu.kernels.fields import COINS, CUT, LARGEST, MASS, PP, QQ, RATE, RATES, REST


@triton.jit
def excess(p, cut, q):
    """(p - cut q)+, and p itself where cut is 0."""
    return tl.where(cut > 0, tl.maximum(p - cut * q, 0.0), p)


@triton.jit
def next_child(f, v, parent_of, ids, NODES: tl.constexpr):
    """The first drawn child of f after node v; NODES when there is none."""
    nodes = tl.arange(0, NODES)
    return tl.min(tl.where((parent_of == f) & (nodes > v) & (ids >= 0), nodes, NODES), axis=0)


@triton.jit
def accept(f, rate, noise, turn, stop, RULE: tl.constexpr):
    """Node f has no child left to try: verification stops at it, or at what is accepted before it."""
    accepted = (f == 0) | (tl.load(noise + f) < rate)
    if RULE == COINS:
        accepted = f >= 0
    if accepted:
        tl.atomic_min(stop, tl.load(turn + f).to(tl.int32), sem="relaxed")  # nothing is published with it


@triton.jit
def attempt(f, child, rate, cut, mass, rest, last, numbers, noise, due, round, N, RULE: tl.constexpr):
    """The rate at which f's child is entered; marks its rejection as due in the next round if that matters.

    It does not if the child is accepted for good, or if it is f's last and f's own coin fails in any
    case: S <= a - min(a p, q) at the child's token bounds f's rate.
    """
    drafted = tl.load(numbers + QQ * N + child)
    p = excess(tl.load(numbers + PP * N + child), cut, drafted) * rest
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
        fails = (f > 0) & last & hopeless(tl.load(noise + f), rate, shared)
        matters = (rate > 0) & (fails == 0)
    if matters:
        tl.store(due + child, round + 1)
    return entered


@triton.jit
def enter(
    v,
    rate,
    parent_of,
    ids,
    numbers,
    noise,
    turn,
    stop,
    due,
    round,
    N,
    RULE: tl.constexpr,
    NODES: tl.constexpr,
):
    """Node v is entered with this rate, then its first child, that one's first child, down to a leaf."""
    while v < NODES:
        tl.store(numbers + RATE * N + v, rate)
        tl.store(numbers + CUT * N + v, 0.0)
        tl.store(numbers + MASS * N + v, 1.0)
        tl.store(numbers + REST * N + v, 1.0)
        child = next_child(v, 0, parent_of, ids, NODES)
        entered = tl.full([], 0.0, tl.float32)
        if child < NODES:
            last = next_child(v, child, parent_of, ids, NODES) == NODES
            entered = attempt(v, child, rate, 0.0, 1.0, 1.0, last, numbers, noise, due, round, N, RULE)
        else:
            accept(v, rate, noise, turn, stop, RULE)
        v = tl.where(entered > 0, child, NODES)
        rate = entered
