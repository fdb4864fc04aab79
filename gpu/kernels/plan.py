"""The priority rule's plan, from sums alone: cuts, the rates of drafted nodes, and the node of the stop."""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false
# Triton declares that a reduction may be a tuple.
import triton
import triton.language as tl

from draftproof.gpu.kernels.cells import KINDS, kept, kind_of, quotient, rest
from draftproof.gpu.kernels.nodes import PP, QQ, nodes_of, share, tree_of
from draftproof.gpu.verify.priority import TINY as SMALLEST

TINY = tl.constexpr(SMALLEST)


@triton.jit
def times(a, b):
    """Their product, for reductions."""
    return a * b


@triton.jit
def ratio_of(part, whole):
    """min(1, part / whole), and 1 where the whole is 0."""
    return tl.where(part < whole, part / tl.where(whole > 0, whole, 1.0), 1.0)


@triton.jit(do_not_specialize=["DEPTH"])
def plan(
    totals,  # [B, N, KINDS, 2 G] float64: as `cells.masses`, over all chunks
    edges,  # [2, KINDS] float64
    cuts,  # [B, N, KINDS, G] out, zeros
    tree,
    levels,  # [1 or B, N]
    nodes,  # out: the turn of the stop
    N,
    DEPTH,
    LIFT: tl.constexpr,
    K: tl.constexpr,
    G: tl.constexpr,
    NODES: tl.constexpr,  # the power of 2 from N on
    SIBLINGS: tl.constexpr,  # and from K on
):
    """One program per request; every node is a lane. See `gpu.verify.priority.plan`.

    With LIFT level by level, from the root on; otherwise all nodes at once.
    """
    b = tl.program_id(0).to(tl.int64)
    v = tl.arange(0, NODES)
    node = v < N
    below = node & (v > 0)
    level = tl.load(levels + b * tree.stride + v, mask=node, other=-1).to(tl.int32)
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    parent = tl.load(tree.parents + v, mask=below, other=0).to(tl.int32)
    turns = tl.load(tree.turn + v, mask=node, other=N).to(tl.int32)
    drawn = below & (tl.load(nodes.ids + v, mask=below, other=-1) >= 0)
    coin = tl.load(nodes.coins + v, mask=node, other=1.0)
    p = tl.load(nodes.numbers + PP * N + v, mask=drawn, other=0.0)
    q = tl.load(nodes.numbers + QQ * N + v, mask=drawn, other=1.0)
    kind, ratio = kind_of(p, q), quotient(p, q).to(tl.float64)
    siblings = (parent[None, :] == parent[:, None]) & below[None, :] & below[:, None]
    older = siblings & (v[None, :] < v[:, None])
    rank = tl.sum(older.to(tl.int32), axis=1)
    mine = (parent[None, :] == v[:, None]) & drawn[None, :]  # [f, v]
    inner = tl.max(mine.to(tl.int32), axis=1) > 0
    column = tl.arange(0, SIBLINGS)
    totals += (b * N + v) * KINDS * 2 * G
    cuts += (b * N + v) * KINDS * G

    mass = tl.zeros([NODES, SIBLINGS], tl.float64)  # of each stratum
    for c in range(KINDS):
        at = totals[:, None] + c * 2 * G + G + (column % G)[None, :]
        mass += tl.load(at, mask=node[:, None] & (column < K)[None, :], other=0.0)
    there = tl.zeros([NODES, SIBLINGS], tl.int32)  # whether child j was drawn
    for j in tl.static_range(K):
        found = tl.max((mine & (rank == j)[None, :]).to(tl.int32), axis=1)
        there = tl.where(column[None, :] == j, found[:, None], there)
    possible = (there > 0) & (mass > 0)
    a = tl.where(node, 1.0, 0.0).to(tl.float64)
    accept = a
    for depth in range(DEPTH if LIFT else 1):
        unkept = tl.full([NODES, SIBLINGS], 1.0, tl.float64)
        left = tl.zeros([NODES], tl.float64)
        rate = tl.zeros([NODES], tl.float64)
        rises = tl.maximum(a, TINY)[:, None] * tl.where(mass > 0, mass, 1.0)
        rises = tl.where(possible, 1 / rises, 0.0)
        here = node
        if LIFT:
            here = node & (level == depth)
        for c in range(KINDS):
            low, high = tl.load(edges + c), tl.load(edges + KINDS + c)
            cut = tl.zeros([NODES], tl.float64)
            had = tl.zeros([NODES], tl.float64)
            for j in tl.static_range(K):
                g = j % G
                if G > 1:
                    cut = tl.zeros([NODES], tl.float64)
                    had = tl.zeros([NODES], tl.float64)
                own = column[None, :] == j
                P = tl.load(totals + c * 2 * G + g, mask=here, other=0.0)
                Q = tl.load(totals + c * 2 * G + G + g, mask=here, other=0.0)
                reach = tl.reduce(tl.where(own, 1.0, unkept), 1, times)
                step = reach * tl.sum(tl.where(own, rises, 0.0), axis=1)
                cut += step
                got = kept(P, Q, cut, low, high)
                now = tl.sum(tl.where(own, unkept, 0.0), axis=1) - a * (got - had) / reach
                unkept = tl.where(own, tl.maximum(now, TINY)[:, None], unkept)
                had = got
                above, rise = tl.gather(cut, parent, 0), tl.gather(step, parent, 0)
                part = kept(ratio, 1.0, above, low, high) - kept(ratio, 1.0, above - rise, low, high)
                chosen = tl.where(above <= low, 1.0, ratio_of(part, rise))
                rate = tl.where((kind == c) & (rank == j), chosen, rate)
                if (G > 1) or (j == K - 1):
                    left += rest(P, Q, cut, low, high)
                    tl.store(cuts + c * G + g, cut, mask=here)
        entered = tl.gather(a, parent, 0)
        rate = tl.where(drawn & (ratio > 0) & (entered > 0), rate, 0.0)
        key = kind * K + rank
        sooner = siblings & (key[None, :] < key[:, None])
        w = rate * tl.reduce(tl.where(sooner, 1 - rate[None, :], 1.0), 1, times)
        into = share(w, 1 - tl.sum(tl.where(older, w[None, :], 0.0), axis=1))
        if LIFT:
            S = a * left
            accept = tl.where(here, tl.where(inner, ratio_of(S, S + (1 - a)), a), accept)
            a = tl.where(drawn & (level == depth + 1), into, a)
            accept = tl.where(level == depth + 1, a, accept)
        else:
            accept = into
    taken = drawn & (coin < accept.to(tl.float32))
    if LIFT:
        found = tl.min(tl.where(taken, turns, N - 1), axis=0)
    else:
        f = tl.full([], 0, tl.int32)
        for i in range(1, N):
            enters = taken & (v == i) & (parent == f)
            f = tl.where(tl.max(enters.to(tl.int32), axis=0) > 0, i, f)
        found = tl.max(tl.where(v == f, turns, 0), axis=0)
    tl.store(nodes.stop, found)
