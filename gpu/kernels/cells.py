"""The optimum's reads of rows: sums by class and stratum, then what is left of the row of the stop.

Classes and cells are those of gpu/verify/cells.py, whose names are used here.
"""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.
from typing import Any, NamedTuple

import triton
import triton.language as tl

from draftproof.gpu.kernels.draw import choose, stop_of, store
from draftproof.gpu.kernels.nodes import (
    below_one,
    family,
    nodes_of,
    pair_of,
    proposal_row,
    target_row,
    tree_of,
)

BLOCK = tl.constexpr(16)
"""Tokens that are summed at a time."""


@triton.jit
def split(p, q, KINDS: tl.constexpr):
    """The class of p / q, and the part of q that is in the place of the class's upper edge."""
    both = p + q
    part = p / tl.where(both > 0, both, 1.0) * KINDS
    k = tl.minimum(tl.floor(part), KINDS - 1.0)
    kind = KINDS - 1 - k
    return kind.to(tl.int32), tl.minimum((part - k) * kind * both / KINDS, q)


@triton.jit
def drawn_of(f, parent_of, token_of):
    """How many children of f were drawn."""
    return tl.sum(((parent_of == f) & (token_of >= 0)).to(tl.int32), axis=0)


class Strata(NamedTuple):
    """Each token's place in the strata of a row [B, I, V], as in `gpu.verify.cells`, and its strides."""

    places: Any
    places_b: Any
    places_n: Any


class Cells(NamedTuple):
    """Sizes known to the compiler: places of strata, and classes."""

    G: Any
    KINDS: Any


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
    found,  # [B, N, C, KINDS, 2 G] out: as `gpu.verify.cells.sums`
    counts,
    block,
    size,
):
    """One program per (request, node, chunk). A node without a drawn child has no mass.

    A class is a number of two digits. A matrix that is 1 where a token's class has the row's first digit,
    times the tokens' masses where it has the column's second one, gives the sums.
    """
    G: tl.constexpr = size.G
    KINDS: tl.constexpr = size.KINDS
    N, V = counts.N, counts.V
    b = tl.program_id(0).to(tl.int64)
    f = tl.program_id(1)
    chunk = tl.program_id(2)
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    parent_of, token_of = family(tree, nodes.ids, N, block.NODES)
    HIGH: tl.constexpr = 16 if G == 1 else KINDS // 4
    LOW: tl.constexpr = KINDS // HIGH
    high, column = tl.arange(0, HIGH), tl.arange(0, LOW * 2 * G)
    digit, group = column // (2 * G), column % (2 * G)
    sums = tl.zeros([HIGH, LOW * 2 * G], tl.float32)
    count = drawn_of(f, parent_of, token_of)
    if count > 0:
        row = tl.load(tree.rows + f).to(tl.int64)
        pair = pair_of(logits, chunks.normaliser, b, f, row, counts)
        for start in range(0, tl.minimum(block.CHUNK, V - chunk * block.CHUNK), BLOCK):
            x = chunk * block.CHUNK + start + tl.arange(0, BLOCK)
            p = target_row(pair, x, V, logits.limits)
            q = proposal_row(pair, x, V)
            place = tl.zeros([BLOCK], tl.float32)
            if strata is not None:
                place = place_of(strata, b, row, x, V)
                q *= count
            kind, taken = split(p, q, KINDS)
            part = tl.maximum(1 - tl.abs(place[:, None] - (group % G)[None, :]), 0.0)
            part = tl.where((kind % LOW)[:, None] == digit[None, :], part, 0.0)
            over = tl.where(kind > 0, taken, tl.maximum(p - (KINDS - 1) * q, 0.0))
            mass = tl.where((group < G)[None, :], over[:, None], (q - taken)[:, None]) * part
            hot = ((kind // LOW)[None, :] == high[:, None]).to(tl.float32)
            sums += tl.dot(hot, mass, input_precision="tf32x3")
    at = (((b * N + f) * block.C + chunk) * HIGH + high[:, None]) * (LOW * 2 * G) + column[None, :]
    tl.store(found + at, sums)


@triton.jit
def left(pair, limits, strata, b, row, x, V, cuts, count, G: tl.constexpr, KINDS: tl.constexpr):
    """What remains of p at the ids x by the cuts [B, N, KINDS, G] of the pair's node."""
    p, q = target_row(pair, x, V, limits), proposal_row(pair, x, V)
    cuts += pair.line * KINDS * G
    if strata is not None:
        q *= count
    kind, taken = split(p, q, KINDS)
    above = tl.maximum(kind - 1, 0)
    over = tl.maximum(p - (KINDS - 1) * q, 0.0)
    if strata is not None:
        place = place_of(strata, b, row, x, V)
        first = place.to(tl.int32)
        part = place - first
        second = tl.minimum(first + 1, G - 1)
        one = (q - taken) * tl.load(cuts + kind * G + first) + taken * tl.load(cuts + above * G + first)
        two = (q - taken) * tl.load(cuts + kind * G + second) + taken * tl.load(cuts + above * G + second)
        return (1 - part) * one + part * two + over
    return (q - taken) * tl.load(cuts + kind) + taken * tl.load(cuts + above) + over


@triton.jit
def inner_stop(tree, nodes, b, N, NODES: tl.constexpr):
    """(f, row, f's drawn children): the node where request b stops, and its row of the proposal."""
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    f = stop_of(tree, nodes, N, NODES)
    parent_of, token_of = family(tree, nodes.ids, N, NODES)
    row = tl.load(tree.rows + f).to(tl.int64)
    return f, row, drawn_of(f, parent_of, token_of)


@triton.jit
def residual_row(
    logits,
    chunks,
    tree,
    nodes,
    strata,
    cuts,
    swept,  # [B, C] out: the masses that are left in the chunks of the row of the stop
    counts,
    block,
    size,
):
    """One program per (request, chunk)."""
    N, I, V = counts.N, counts.I, counts.V
    b = tl.program_id(0).to(tl.int64)
    chunk = tl.program_id(1)
    f, row, count = inner_stop(tree, nodes, b, N, block.NODES)
    mass = tl.load(chunks.sums + (b * (N + I) + f) * block.C + chunk)
    if count > 0:
        x = chunk * block.CHUNK + tl.arange(0, block.CHUNK)
        pair = pair_of(logits, chunks.normaliser, b, f, row, counts)
        remains = left(pair, logits.limits, strata, b, row, x, V, cuts, count, size.G, size.KINDS)
        mass = tl.sum(remains, axis=0)
    tl.store(swept + b * block.C + chunk, mass)


@triton.jit
def draw(
    logits, chunks, tree, nodes, strata, cuts, swept, extra, drawn, counts, block, size,
):  # fmt: skip
    """One program per request: the chunk by the chunks' masses, then the token in the chunk."""
    N, I, V = counts.N, counts.I, counts.V
    C = block.C
    b = tl.program_id(0).to(tl.int64)
    f, row, count = inner_stop(tree, nodes, b, N, block.NODES)
    pair = pair_of(logits, chunks.normaliser, b, f, row, counts)
    index = tl.arange(0, block.CHUNKS)
    remains = tl.load(swept + b * C + index, mask=index < C, other=0.0).to(tl.float64)
    whole = tl.load(chunks.sums + (b * (N + I) + f) * C + index, mask=index < C, other=0.0).to(tl.float64)
    inner = (count > 0) & (tl.sum(remains, axis=0) > 0)  # rounding left no mass: the row is p
    remains = tl.where(inner, remains, whole)
    u = below_one(tl.load(extra + b))
    chunk, u = choose(remains, u, index)
    x = chunk * block.CHUNK + tl.arange(0, block.CHUNK)
    mass = target_row(pair, x, V, logits.limits)
    if inner:
        mass = left(pair, logits.limits, strata, b, row, x, V, cuts, count, size.G, size.KINDS)
    found, _ = choose(mass.to(tl.float64), u, x)
    store(drawn, b, f, found)
