"""The priority rule's reads of rows: sums by class and stratum, then what is left of the row of the stop.

Classes and cells are those of gpu/verify/cells.py, whose names are used here.
"""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from draftproof.gpu.kernels.draw import choose, stop_of, store
from draftproof.gpu.kernels.nodes import (
    below_one,
    family,
    next_child,
    nodes_of,
    pair_of,
    proposal_row,
    target_row,
    tree_of,
)
from draftproof.gpu.verify.cells import HEAD
from draftproof.theory.values.priority_classes import CLASSES, HIGHEST, PARTS, SHIFT

KINDS = tl.constexpr(CLASSES)
MOVED = tl.constexpr(float(SHIFT))
DROPPED = tl.constexpr(HEAD[torch.float32][1])
FIRST = tl.constexpr(PARTS * (HEAD[torch.float32][2] + HIGHEST))
BLOCK = tl.constexpr(32)
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


class Strata(NamedTuple):
    """Each token's place in the strata of a row [B, I, V], as in `gpu.verify.cells`, and its strides."""

    places: Any
    places_b: Any
    places_n: Any


@triton.jit
def place_of(strata, b, row, x, V):
    """The places of the ids x in the strata of a row."""
    own = strata.places + b * strata.places_b + row * strata.places_n
    return tl.load(own + x, mask=x < V, other=0.0).to(tl.float32)


@triton.jit
def masses(
    logits,
    chunks,
    tree,
    nodes,
    strata,  # or None
    found,  # [B, N, C, KINDS, 2 G] out: the masses of p, then those of q
    counts,
    block,
    G: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """One program per (request, node, chunk). A node without a drawn child has no mass.

    A class is a row of a matrix that is 1 at its tokens; times the tokens' masses it gives the sums.
    """
    N, V = counts.N, counts.V
    b = tl.program_id(0).to(tl.int64)
    f = tl.program_id(1)
    chunk = tl.program_id(2)
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    parent_of, token_of = family(tree, nodes.ids, N, block.NODES)
    kinds, column = tl.arange(0, KINDS), tl.arange(0, COLUMNS)
    sums = tl.zeros([KINDS, COLUMNS], tl.float32)
    if next_child(f, 0, parent_of, token_of, block.NODES) < block.NODES:
        row = tl.load(tree.rows + f).to(tl.int64)
        pair = pair_of(logits, chunks.normaliser, b, f, row, counts)
        for start in range(0, block.CHUNK, BLOCK):
            x = chunk * block.CHUNK + start + tl.arange(0, BLOCK)
            p = target_row(pair, x, V, logits.limits)
            q = proposal_row(pair, x, V)
            place = tl.zeros([BLOCK], tl.float32)
            if strata is not None:
                place = place_of(strata, b, row, x, V)
            part = tl.maximum(1 - tl.abs(place[:, None] - (column % G)[None, :]), 0.0)
            mass = tl.where((column < G)[None, :], p[:, None], q[:, None]) * part
            hot = (kind_of(p, q)[None, :] == kinds[:, None]).to(tl.float32)
            sums += tl.dot(hot, mass, input_precision="tf32x3")
    at = (((b * N + f) * block.C + chunk) * KINDS + kinds[:, None]) * (2 * G) + column[None, :]
    tl.store(found + at, sums, mask=(column < 2 * G)[None, :])


@triton.jit
def added(found, totals, C, SIZE: tl.constexpr):
    """One program per (request, node): the sums over its chunks, in float64."""
    line, place = tl.program_id(0).to(tl.int64), tl.arange(0, SIZE)
    total = tl.zeros([SIZE], tl.float64)
    for chunk in range(C):
        total += tl.load(found + (line * C + chunk) * SIZE + place)
    tl.store(totals + line * SIZE + place, total)


@triton.jit
def left(pair, limits, strata, b, row, x, V, cuts, edges, G: tl.constexpr):
    """What the cuts [B, N, KINDS, G] of the pair's node leave of p at the ids x; edges [2, KINDS]."""
    p, q = target_row(pair, x, V, limits), proposal_row(pair, x, V)
    cuts += pair.line * KINDS * G
    kind = kind_of(p, q)
    low, high = tl.load(edges + kind), tl.load(edges + KINDS + kind)
    if strata is not None:
        place = place_of(strata, b, row, x, V)
        first = place.to(tl.int32)
        part = place - first
        second = tl.minimum(first + 1, G - 1)
        one = rest(p, q, tl.load(cuts + kind * G + first), low, high)
        two = rest(p, q, tl.load(cuts + kind * G + second), low, high)
        return (1 - part) * one + part * two
    return rest(p, q, tl.load(cuts + kind * G), low, high)


@triton.jit
def inner_stop(tree, nodes, b, N, NODES: tl.constexpr):
    """(f, row, whether f has a drawn child): the node where request b stops, and its row of the proposal."""
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    f = stop_of(tree, nodes, N, NODES)
    parent_of, token_of = family(tree, nodes.ids, N, NODES)
    row = tl.load(tree.rows + f).to(tl.int64)
    return f, row, next_child(f, 0, parent_of, token_of, NODES) < NODES


@triton.jit
def residual_row(
    logits,
    chunks,
    tree,
    nodes,
    strata,
    cuts,
    edges,
    swept,  # [B, C] out: the masses that are left in the chunks of the row of the stop
    counts,
    block,
    G: tl.constexpr,
):
    """One program per (request, chunk)."""
    N, I, V = counts.N, counts.I, counts.V
    b = tl.program_id(0).to(tl.int64)
    chunk = tl.program_id(1)
    f, row, inner = inner_stop(tree, nodes, b, N, block.NODES)
    mass = tl.load(chunks.sums + (b * (N + I) + f) * block.C + chunk)
    if inner:
        x = chunk * block.CHUNK + tl.arange(0, block.CHUNK)
        pair = pair_of(logits, chunks.normaliser, b, f, row, counts)
        mass = tl.sum(left(pair, logits.limits, strata, b, row, x, V, cuts, edges, G), axis=0)
    tl.store(swept + b * block.C + chunk, mass)


@triton.jit
def draw(
    logits, chunks, tree, nodes, strata, cuts, edges, swept, extra, drawn, counts, block, G: tl.constexpr
):  # fmt: skip
    """One program per request: the chunk by the chunks' masses, then the token in the chunk."""
    N, I, V = counts.N, counts.I, counts.V
    C = block.C
    b = tl.program_id(0).to(tl.int64)
    f, row, inner = inner_stop(tree, nodes, b, N, block.NODES)
    pair = pair_of(logits, chunks.normaliser, b, f, row, counts)
    index = tl.arange(0, block.CHUNKS)
    remains = tl.load(swept + b * C + index, mask=index < C, other=0.0).to(tl.float64)
    whole = tl.load(chunks.sums + (b * (N + I) + f) * C + index, mask=index < C, other=0.0).to(tl.float64)
    inner = inner & (tl.sum(remains, axis=0) > 0)  # rounding left no mass: the row is p
    remains = tl.where(inner, remains, whole)
    u = below_one(tl.load(extra + b))
    chunk, u = choose(remains, u, index)
    x = chunk * block.CHUNK + tl.arange(0, block.CHUNK)
    mass = target_row(pair, x, V, logits.limits)
    if inner:
        mass = left(pair, logits.limits, strata, b, row, x, V, cuts, edges, G)
    found, _ = choose(mass.to(tl.float64), u, x)
    store(drawn, b, f, found)
