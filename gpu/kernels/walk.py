"""Verifies deterministic drafts by the target's probabilities alone, without a second pass."""

# pyright: reportOperatorIssue=false
# Triton declares that a reduction may be a tuple.
import triton
import triton.language as tl

from draftproof.gpu.kernels.nodes import FIELDS, LOG2_E, PP, next_child, share
from draftproof.gpu.kernels.sweep import drop


@triton.jit(do_not_specialize=["tree_b", "N"])
def walk(
    target, temperature, limits, sums, normaliser, parents,
    first,  # [1 or B, N]: each node's first sibling
    turn, noise, ids, state, stop, target_b, target_n, tree_b, N, V, C: tl.constexpr,
    ONE_COIN: tl.constexpr, NODES: tl.constexpr, CHUNKS: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """One program per request. A child x is entered with probability p(x) / (1 - mass of earlier siblings'
    tokens). With ONE_COIN the children lie end to end on [0, 1), and the first sibling's coin selects one of
    them or none. A token that an earlier sibling has counts as p = 0.
    """
    b = tl.program_id(0).to(tl.int64)
    nodes = tl.arange(0, NODES)
    below = (nodes > 0) & (nodes < N)
    parent_of = tl.load(parents + b * tree_b + nodes, mask=below, other=-1).to(tl.int32)
    ids += b * N
    noise += b * N
    token_of = tl.load(ids + nodes, mask=below, other=-1)
    state += b * FIELDS * N
    scale = LOG2_E / tl.load(temperature + 2 * b)

    f = tl.full([], 0, tl.int32)
    reach = tl.full([], 0.0, tl.float32)
    rest = tl.full([], 1.0, tl.float32)
    v = next_child(f, 0, parent_of, token_of, NODES)
    while v < NODES:
        p = tl.load(state + PP * N + v)
        earlier = (parent_of == f) & (nodes < v) & (token_of >= 0)
        again = tl.max((earlier & (token_of == tl.load(ids + v))).to(tl.int32), axis=0) > 0
        p = tl.where(again, 0.0, p)
        if ONE_COIN:
            reach += p
            entered = tl.load(noise + tl.load(first + b * tree_b + v)) < reach
        else:
            entered = tl.load(noise + v) < share(p, rest)
        if entered:
            f = v
            reach = tl.full([], 0.0, tl.float32)
            rest = tl.full([], 1.0, tl.float32)
            v = next_child(f, 0, parent_of, token_of, NODES)
        else:
            if ONE_COIN == 0:
                rest = drop(
                    target + b * target_b + f.to(tl.int64) * target_n, tl.load(normaliser + b * N + f),
                    scale, limits, b * N + f, sums + (b * N + f) * C, f, v, parent_of, token_of, ids, V, C,
                    NODES, CHUNKS, CHUNK,
                )  # fmt: skip
            v = next_child(f, v, parent_of, token_of, NODES)
    tl.store(stop + b, tl.load(turn + b * tree_b + f).to(tl.int32))
