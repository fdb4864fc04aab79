"""What the kernels share: the numbers kept for each node (`state`), functions on rows and on nodes.

Pointers have the names and shapes of `opening`. `parent_of` and `ids` hold, for all nodes at once, the parent
and the drawn token; -1 where there is none.
"""

import triton
import triton.language as tl

FIELDS = tl.constexpr(6)
PP, QQ, RATE, CUT, MASS, REST = (tl.constexpr(field) for field in range(6))
"""float32 [FIELDS, N] for each request. PP, QQ: the probabilities p and q of a node's drafted token. RATE: of
an entered node. After rejected children the node's row is (p - CUT q)+ / MASS; REST is the mass of q without
the rejected tokens."""

COINS, RATES, UNCAPPED = (tl.constexpr(rule) for rule in range(3))
"""How a child is entered: if its coin falls below its rate (recursive rejection), always, with the rate
min(1, a p / q) (traversal), or always, with a p / q (greedy block)."""

LARGEST = tl.constexpr(3e38)
LOG2_E = tl.constexpr(1.4426950408889634)
OCTET = tl.constexpr(8)
"""Logits around the largest of a chunk whose p and q bound a node's rate: 16 bytes of bfloat16."""

BELOW_ONE = tl.constexpr(1 - 2**-24)


@triton.jit
def law(row, x, scale, normaliser, V):
    """The probabilities 2^(scale logit - normaliser) of the ids x, the power rounded once; 0 beyond V."""
    logits = tl.load(row + x, mask=x < V, other=-float("inf")).to(tl.float32)
    return tl.exp2(tl.fma(logits, scale, -normaliser))


@triton.jit
def share(part, whole):
    """min(1, part / whole), but 0 if the part is 0."""
    ratio = tl.where(part < whole, part / tl.where(whole > 0, whole, 1.0), 1.0)
    return tl.where(part > 0, ratio, 0.0)


@triton.jit
def excess(p, cut, q):
    """(p - cut q)+, and p itself if cut is 0."""
    return tl.where(cut > 0, tl.maximum(p - cut * q, 0.0), p)


@triton.jit
def next_child(f, v, parent_of, ids, NODES: tl.constexpr):
    """The first drawn child of f after node v; NODES if there is none."""
    nodes = tl.arange(0, NODES)
    return tl.min(tl.where((parent_of == f) & (nodes > v) & (ids >= 0), nodes, NODES), axis=0)
