"""The priority rule's reads of rows: sums by class and stratum, then what is left of the row of the stop.

Classes and cells are those of gpu/verify/cells.py, whose names are used here.
"""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.
import torch
import triton
import triton.language as tl

from draftproof.gpu.kernels.draw import choose, stop_of
from draftproof.gpu.kernels.nodes import BELOW_ONE, law, next_child, scales
from draftproof.gpu.verify.cells import HEAD
from draftproof.theory.values.priority_classes import CLASSES, HIGHEST, PARTS, SHIFT

KINDS = tl.constexpr(CLASSES)
MOVED = tl.constexpr(float(SHIFT))
DROPPED = tl.constexpr(HEAD[torch.float32][1])
FIRST = tl.constexpr(PARTS * (HEAD[torch.float32][2] + HIGHEST))
BLOCK = tl.constexpr(64)
"""Tokens that are summed at a time."""


@triton.jit
def quotient(p, q):
    """p / q, 3e38 where q is 0, and 0 where p is."""
    return tl.where(q > 0, p / tl.where(q > 0, q, 1.0), tl.where(p > 0, 3e38, 0.0))


@triton.jit
def kind_of(p, q):
    """The class of p / q."""
    head = (quotient(p, q) * MOVED).to(tl.int32, bitcast=True) >> DROPPED
    return tl.minimum(tl.maximum(0 - head + FIRST, 0), KINDS - 1)


@triton.jit
def slope(cut, low, high):
    """How far the cut is from the lower to the upper edge of its class, from 0 to 1."""
    return tl.minimum(tl.maximum((cut - low) / (high - low), 0.0), 1.0)


@triton.jit
def kept(p, q, cut, low, high):
    """What a cut keeps of p."""
    return tl.minimum(cut, low) * q + slope(cut, low, high) * (p - low * q)


@triton.jit
def rest(p, q, cut, low, high):
    """p without what the cut keeps, as a sum of what is not negative."""
    return (1 - slope(cut, low, high)) * tl.maximum(p - low * q, 0.0) + tl.maximum(low - cut, 0.0) * q


@triton.jit(do_not_specialize=["tree_b", "N", "I"])
def masses(
    target, proposal, places, temperature, limits, normaliser, parents, rows, ids,
    found,  # [B, N, C, KINDS, 2 G] out: the masses of p, then those of q
    target_b, target_n, proposal_b, proposal_n, places_b, places_n, tree_b, N, I, V, C,
    STRATA: tl.constexpr, G: tl.constexpr, COLUMNS: tl.constexpr, NODES: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """One program per (request, node, chunk). A node without a drawn child has no mass.

    A class is a row of a matrix that is 1 at its tokens; times the tokens' masses it gives the sums.
    """
    b = tl.program_id(0).to(tl.int64)
    f = tl.program_id(1)
    chunk = tl.program_id(2)
    nodes = tl.arange(0, NODES)
    below = (nodes > 0) & (nodes < N)
    parent_of = tl.load(parents + b * tree_b + nodes, mask=below, other=-1).to(tl.int32)
    token_of = tl.load(ids + b * N + nodes, mask=below, other=-1)
    kinds, column = tl.arange(0, KINDS), tl.arange(0, COLUMNS)
    sums = tl.zeros([KINDS, COLUMNS], tl.float32)
    if next_child(f, 0, parent_of, token_of, NODES) < NODES:
        row = tl.load(rows + b * tree_b + f).to(tl.int64)
        scale_p, scale_q = scales(temperature + 2 * b)
        norm_p = tl.load(normaliser + b * (N + I) + f)
        norm_q = tl.load(normaliser + b * (N + I) + N + row)
        target += b * target_b + f.to(tl.int64) * target_n
        proposal += b * proposal_b + row * proposal_n
        places += b * places_b + row * places_n
        for start in range(0, CHUNK, BLOCK):
            x = chunk * CHUNK + start + tl.arange(0, BLOCK)
            p = law(target, x, scale_p, norm_p, V, limits, b * N + f)
            q = law(proposal, x, scale_q, norm_q, V)
            place = tl.zeros([BLOCK], tl.float32)
            if STRATA:
                place = tl.load(places + x, mask=x < V, other=0.0).to(tl.float32)
            part = tl.maximum(1 - tl.abs(place[:, None] - (column % G)[None, :]), 0.0)
            mass = tl.where((column < G)[None, :], p[:, None], q[:, None]) * part
            hot = (kind_of(p, q)[None, :] == kinds[:, None]).to(tl.float32)
            sums += tl.dot(hot, mass, input_precision="tf32x3")
    at = (((b * N + f) * C + chunk) * KINDS + kinds[:, None]) * (2 * G) + column[None, :]
    tl.store(found + at, sums, mask=(column < 2 * G)[None, :])


@triton.jit
def left(
    target, proposal, places, limits, line, norm_p, norm_q, scale_p, scale_q, x, V, cuts, edges,
    G: tl.constexpr, STRATA: tl.constexpr,
):  # fmt: skip
    """What the cuts [KINDS, G] leave of p at the ids x."""
    p, q = law(target, x, scale_p, norm_p, V, limits, line), law(proposal, x, scale_q, norm_q, V)
    kind = kind_of(p, q)
    low, high = tl.load(edges + kind), tl.load(edges + KINDS + kind)
    if STRATA:
        place = tl.load(places + x, mask=x < V, other=0.0).to(tl.float32)
        first = place.to(tl.int32)
        part = place - first
        second = tl.minimum(first + 1, G - 1)
        one = rest(p, q, tl.load(cuts + kind * G + first), low, high)
        two = rest(p, q, tl.load(cuts + kind * G + second), low, high)
        return (1 - part) * one + part * two
    return rest(p, q, tl.load(cuts + kind * G), low, high)


@triton.jit
def inner_stop(parents, rows, turn, ids, stop, b, tree_b, N, NODES: tl.constexpr):
    """(f, row, whether f has a drawn child): the node where request b stops, and its row of the proposal."""
    f, parent_of, token_of = stop_of(parents, turn, ids + b * N, stop, b, tree_b, N, NODES)
    row = tl.load(rows + b * tree_b + f).to(tl.int64)
    return f, row, next_child(f, 0, parent_of, token_of, NODES) < NODES


@triton.jit(do_not_specialize=["tree_b", "N", "I"])
def leave(
    target, proposal, places, temperature, limits, sums, normaliser, parents, rows, turn, ids, stop, cuts,
    edges,
    swept,  # [B, C] out: the masses that are left in the chunks of the row of the stop
    target_b, target_n, proposal_b, proposal_n, places_b, places_n, tree_b, N, I, V, C,
    STRATA: tl.constexpr, G: tl.constexpr, NODES: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """One program per (request, chunk)."""
    b = tl.program_id(0).to(tl.int64)
    chunk = tl.program_id(1)
    f, row, inner = inner_stop(parents, rows, turn, ids, stop, b, tree_b, N, NODES)
    scale_p, scale_q = scales(temperature + 2 * b)
    mass = tl.load(sums + (b * (N + I) + f) * C + chunk)
    if inner:
        x = chunk * CHUNK + tl.arange(0, CHUNK)
        kept_out = left(
            target + b * target_b + f.to(tl.int64) * target_n, proposal + b * proposal_b + row * proposal_n,
            places + b * places_b + row * places_n, limits, b * N + f,
            tl.load(normaliser + b * (N + I) + f), tl.load(normaliser + b * (N + I) + N + row), scale_p,
            scale_q, x, V,
            cuts + (b * N + f) * KINDS * G, edges, G, STRATA,
        )  # fmt: skip
        mass = tl.sum(kept_out, axis=0)
    tl.store(swept + b * C + chunk, mass)


@triton.jit(do_not_specialize=["tree_b", "N", "I"])
def draw(
    target, proposal, places, temperature, limits, sums, normaliser, parents, rows, turn, ids, stop, cuts,
    edges, swept, extra, error,
    node, token,  # [B] out
    target_b, target_n, proposal_b, proposal_n, places_b, places_n, tree_b, N, I, V, C: tl.constexpr,
    STRATA: tl.constexpr, G: tl.constexpr, NODES: tl.constexpr, CHUNKS: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """One program per request: the chunk by the chunks' masses, then the token in the chunk."""
    b = tl.program_id(0).to(tl.int64)
    f, row, inner = inner_stop(parents, rows, turn, ids, stop, b, tree_b, N, NODES)
    scale_p, scale_q = scales(temperature + 2 * b)
    norm_p = tl.load(normaliser + b * (N + I) + f)
    target += b * target_b + f.to(tl.int64) * target_n
    chunks = tl.arange(0, CHUNKS)
    remains = tl.load(swept + b * C + chunks, mask=chunks < C, other=0.0).to(tl.float64)
    whole = tl.load(sums + (b * (N + I) + f) * C + chunks, mask=chunks < C, other=0.0).to(tl.float64)
    inner = inner & (tl.sum(remains, axis=0) > 0)  # rounding left no mass: the row is p
    remains = tl.where(inner, remains, whole)
    u = tl.minimum(tl.load(extra + b), BELOW_ONE).to(tl.float64)
    chunk, u = choose(remains, u * tl.sum(remains, axis=0), chunks)
    x = chunk * CHUNK + tl.arange(0, CHUNK)
    mass = law(target, x, scale_p, norm_p, V, limits, b * N + f)
    if inner:
        mass = left(
            target, proposal + b * proposal_b + row * proposal_n, places + b * places_b + row * places_n,
            limits, b * N + f, norm_p, tl.load(normaliser + b * (N + I) + N + row), scale_p, scale_q, x, V,
            cuts + (b * N + f) * KINDS * G, edges, G, STRATA,
        )  # fmt: skip
    found, _ = choose(mass.to(tl.float64), u, x)
    fine = tl.load(error + b) == 0
    tl.store(node + b, tl.where(fine, f, 0).to(tl.int64))
    tl.store(token + b, tl.where(fine, found, -1).to(tl.int64))
