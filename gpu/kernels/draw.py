"""Draws the extra token: a chunk by the chunks' masses, then the token by the cumulative sum in it."""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.
import triton
import triton.language as tl

from draftproof.gpu.kernels.nodes import (
    CUT,
    below_one,
    excess,
    family,
    next_child,
    nodes_of,
    pair_of,
    proposal_row,
    target_row,
    tree_of,
)


@triton.jit
def residual(
    pair, limits, x, V, cut, f, parent_of, token_of, ids, SAMPLED: tl.constexpr, NODES: tl.constexpr
):
    """(p - cut q)+ at the ids x, 0 at the tokens of f's children."""
    row = target_row(pair, x, V, limits)
    if SAMPLED:
        row = excess(row, cut, proposal_row(pair, x, tl.where(cut > 0, V, 0)))
    child = next_child(f, 0, parent_of, token_of, NODES)
    while child < NODES:
        row = tl.where(x == tl.load(ids + child), 0.0, row)
        child = next_child(f, child, parent_of, token_of, NODES)
    return row


@triton.jit
def choose(masses, u, index):
    """(index, share): the first index with mass whose cumulative sum exceeds u times the whole, else the last
    with mass; and how far into its mass that is, as a number below 1.
    """
    at = u * tl.sum(masses, axis=0)
    most = tl.max(index, axis=0)
    past = (tl.cumsum(masses, axis=0) > at) & (masses > 0)
    found = tl.min(tl.where(past, index, most + 1), axis=0)
    found = tl.where(found > most, tl.max(tl.where(masses > 0, index, 0), axis=0), found)
    into = at - tl.sum(tl.where(index < found, masses, 0.0), axis=0)
    own = tl.sum(tl.where(index == found, masses, 0.0), axis=0)
    return found, below_one(tl.maximum(into, 0.0) / tl.where(own > 0, own, 1.0))


@triton.jit
def stop_of(tree, nodes, N, NODES: tl.constexpr):
    """The node where a request stops, of whose tables and nodes these are."""
    index = tl.arange(0, NODES)
    turns = tl.load(tree.turn + index, mask=index < N, other=-1).to(tl.int32)
    return tl.max(tl.where(turns == tl.load(nodes.stop), index, 0), axis=0)


@triton.jit
def store(drawn, b, node, token):
    """Stores an outcome in `drawn`, or node 0 and token -1 if the request has an error."""
    fine = tl.load(drawn.error + b) == 0
    tl.store(drawn.node + b, tl.where(fine, node, 0).to(tl.int64))
    tl.store(drawn.token + b, tl.where(fine, token, -1).to(tl.int64))


@triton.jit
def draw(logits, chunks, tree, nodes, swept, extra, drawn, counts, block, SAMPLED: tl.constexpr):
    """One program per request; it reads the chunks of rejected tokens and the chunk of the extra token."""
    N, I, V = counts.N, counts.I, counts.V
    C = block.C
    b = tl.program_id(0).to(tl.int64)
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    index = tl.arange(0, block.NODES)
    f = stop_of(tree, nodes, N, block.NODES)
    parent_of, token_of = family(tree, nodes.ids, N, block.NODES)
    u = below_one(tl.load(extra + b))
    row = tl.load(tree.rows + f).to(tl.int32)
    pair = pair_of(logits, chunks.normaliser, b, f, row, counts)
    cut = tl.full([], 0.0, tl.float32)
    chunk = tl.arange(0, block.CHUNKS)
    whole = tl.load(chunks.sums + (b * (N + I) + f) * C + chunk, mask=chunk < C, other=0.0)
    masses = whole
    last = tl.max(tl.where((parent_of == f) & (token_of >= 0), index, 0), axis=0)
    if SAMPLED:
        cut = tl.load(nodes.numbers + CUT * N + f, mask=last > 0, other=0.0)
        left = tl.load(swept + (b * N + last) * C + chunk, mask=(chunk < C) & (last > 0), other=0.0)
        masses = tl.where(last > 0, left, whole)

    child = next_child(f, 0, parent_of, token_of, block.NODES)
    while child < block.NODES:
        here = tl.load(nodes.ids + child) // block.CHUNK
        x = here * block.CHUNK + tl.arange(0, block.CHUNK)
        kept = residual(
            pair, logits.limits, x, V, cut, f, parent_of, token_of, nodes.ids, SAMPLED, block.NODES
        )  # fmt: skip
        masses = tl.where(chunk == here, tl.sum(kept, axis=0), masses)
        child = next_child(f, child, parent_of, token_of, block.NODES)
    keeps = f
    if (tl.sum(masses, axis=0) > 0) == 0:  # rounding left no mass: the row is p
        masses = whole
        cut = tl.full([], 0.0, tl.float32)
        keeps = tl.full([], block.NODES, tl.int32)

    here, u = choose(masses.to(tl.float64), u, chunk)
    x = here * block.CHUNK + tl.arange(0, block.CHUNK)
    kept = residual(
        pair, logits.limits, x, V, cut, keeps, parent_of, token_of, nodes.ids, SAMPLED, block.NODES
    )  # fmt: skip
    found, _ = choose(kept.to(tl.float64), u, x)
    store(drawn, b, f, found)
