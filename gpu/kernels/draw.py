"""Draws the extra token: the chunk by the chunks' masses, then the token by the cumulative sum in the
chunk.
"""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.
import triton
import triton.language as tl

from draftproof.gpu.kernels.nodes import BELOW_ONE, CUT, FIELDS, excess, law, next_child, scales


@triton.jit
def residual(
    target, proposal, limits, line, norm_p, norm_q, scale_p, scale_q, x, V, cut, f, parent_of, token_of, ids,
    SAMPLED: tl.constexpr, NODES: tl.constexpr,
):  # fmt: skip
    """(p - cut q)+ at the ids x, 0 at the tokens of f's children."""
    row = law(target, x, scale_p, norm_p, V, limits, line)
    if SAMPLED:
        row = excess(row, cut, law(proposal, x, scale_q, norm_q, V))
    child = next_child(f, 0, parent_of, token_of, NODES)
    while child < NODES:
        row = tl.where(x == tl.load(ids + child), 0.0, row)
        child = next_child(f, child, parent_of, token_of, NODES)
    return row


@triton.jit
def choose(masses, u, index):
    """(index, rest): the first index with mass whose cumulative sum exceeds u, else the last index with mass;
    and u minus the masses before it.
    """
    cumulative = tl.cumsum(masses, axis=0)
    most = tl.max(index, axis=0)
    past = (cumulative > u) & (masses > 0)
    found = tl.min(tl.where(past, index, most + 1), axis=0)
    found = tl.where(found > most, tl.max(tl.where(masses > 0, index, 0), axis=0), found)
    return found, u - tl.sum(tl.where(index < found, masses, 0.0), axis=0)


@triton.jit
def stop_of(parents, turn, ids, stop, b, tree_b, N, NODES: tl.constexpr):
    """(f, parent_of, token_of): the node where request b stops, and each node's parent and drawn token."""
    nodes = tl.arange(0, NODES)
    below = (nodes > 0) & (nodes < N)
    turns = tl.load(turn + b * tree_b + nodes, mask=nodes < N, other=-1).to(tl.int32)
    f = tl.max(tl.where(turns == tl.load(stop + b), nodes, 0), axis=0)
    parent_of = tl.load(parents + b * tree_b + nodes, mask=below, other=-1).to(tl.int32)
    return f, parent_of, tl.load(ids + nodes, mask=below, other=-1)


@triton.jit(do_not_specialize=["tree_b", "N", "I"])
def draw(
    target, proposal, temperature, limits, sums, normaliser, parents, rows, turn, ids, state, stop, swept,
    extra, error,
    node, token,  # [B] out
    target_b, target_n, proposal_b, proposal_n, tree_b, N, I, V, C: tl.constexpr,
    SAMPLED: tl.constexpr, NODES: tl.constexpr, CHUNKS: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """One program per request; it reads the chunks of rejected tokens and the chunk of the extra token."""
    b = tl.program_id(0).to(tl.int64)
    nodes = tl.arange(0, NODES)
    ids += b * N
    f, parent_of, token_of = stop_of(parents, turn, ids, stop, b, tree_b, N, NODES)
    scale_p, scale_q = scales(temperature + 2 * b)
    u = tl.minimum(tl.load(extra + b), BELOW_ONE).to(tl.float64)
    fine = tl.load(error + b) == 0

    target += b * target_b + f.to(tl.int64) * target_n
    norm_p = tl.load(normaliser + b * (N + I) + f)
    norm_q = norm_p
    cut = tl.full([], 0.0, tl.float32)
    chunks = tl.arange(0, CHUNKS)
    whole = tl.load(sums + (b * (N + I) + f) * C + chunks, mask=chunks < C, other=0.0)
    masses = whole
    last = tl.max(tl.where((parent_of == f) & (token_of >= 0), nodes, 0), axis=0)
    if SAMPLED:
        row = tl.load(rows + b * tree_b + f).to(tl.int32)
        proposal += b * proposal_b + row.to(tl.int64) * proposal_n
        norm_q = tl.load(normaliser + b * (N + I) + N + row, mask=row < I, other=0.0)
        cut = tl.load(state + (b * FIELDS + CUT) * N + f, mask=last > 0, other=0.0)
        left = tl.load(swept + (b * N + last) * C + chunks, mask=(chunks < C) & (last > 0), other=0.0)
        masses = tl.where(last > 0, left, whole)

    child = next_child(f, 0, parent_of, token_of, NODES)
    while child < NODES:
        chunk = tl.load(ids + child) // CHUNK
        x = chunk * CHUNK + tl.arange(0, CHUNK)
        kept = residual(
            target,
            proposal,
            limits,
            b * N + f,
            norm_p,
            norm_q,
            scale_p,
            scale_q,
            x,
            V,
            cut,
            f,
            parent_of,
            token_of,
            ids,
            SAMPLED,
            NODES,
        )
        masses = tl.where(chunks == chunk, tl.sum(kept, axis=0), masses)
        child = next_child(f, child, parent_of, token_of, NODES)
    keeps = f
    if (tl.sum(masses, axis=0) > 0) == 0:  # rounding left no mass: the row is p
        masses = whole
        cut = tl.full([], 0.0, tl.float32)
        keeps = tl.full([], NODES, tl.int32)

    exact = masses.to(tl.float64)
    chunk, left = choose(exact, u * tl.sum(exact, axis=0), chunks)
    x = chunk * CHUNK + tl.arange(0, CHUNK)
    kept = residual(
        target,
        proposal,
        limits,
        b * N + f,
        norm_p,
        norm_q,
        scale_p,
        scale_q,
        x,
        V,
        cut,
        keeps,
        parent_of,
        token_of,
        ids,
        SAMPLED,
        NODES,
    )
    found, _ = choose(kept.to(tl.float64), left, x)
    tl.store(node + b, tl.where(fine, f, 0).to(tl.int64))
    tl.store(token + b, tl.where(fine, found, -1).to(tl.int64))
