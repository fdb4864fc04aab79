"""Pass 2: computes the residual mass after each rejected child; the last program goes on down the tree."""

import triton
import triton.language as tl

from draftproof.gpu.kernels.nodes import (
    CUT,
    LARGEST,
    MASS,
    RATE,
    RATES,
    REST,
    accept_child,
    accept_node,
    enter_node,
    excess,
    family,
    next_child,
    nodes_of,
    pair_of,
    proposal_row,
    share,
    target_row,
    tree_of,
)


@triton.jit(do_not_specialize=["round"])
def sweep(
    logits,
    chunks,  # in and out: rejected tokens are removed from the masses of rows of q
    tree,
    nodes,
    swept,  # [B, N, C] out: masses of (p - cut q)+ after a child's rejection
    counts,
    round,
    block,
    GROUP: tl.constexpr,
    REPLACEMENT: tl.constexpr,
):
    """One program per (child, request, GROUP chunks); later nodes first, since their acceptance saves work.

    A program reads logits only if its child's rejection is pending and no node with an earlier turn is
    accepted. If such a node is accepted during a sweep, the sweep stays incomplete and its result is not
    used.
    """
    N, I, V = counts.N, counts.I, counts.V
    C = block.C
    b = tl.program_id(0).to(tl.int64)
    start = tl.program_id(1) * GROUP
    v = N - 1 - tl.program_id(2)
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    f = tl.load(tree.parents + v).to(tl.int32)
    own = tl.load(tree.turn + v)
    needed = tl.load(nodes.pending_round + v) == round
    # Loaded before `stop` is compared, so that one wait covers all three loads.
    rate = tl.load(nodes.numbers + RATE * N + f, mask=needed, other=0.0)
    cut = tl.load(nodes.numbers + CUT * N + f, mask=needed, other=0.0)
    mass = tl.load(nodes.numbers + MASS * N + f, mask=needed, other=0.0)
    rest = tl.load(nodes.numbers + REST * N + f, mask=needed, other=0.0)
    row = tl.load(tree.rows + f, mask=needed, other=0).to(tl.int32)
    if needed:
        # Other programs may lower `stop` meanwhile. An atomic gives all threads the same value, a load might
        # not.
        needed = own < tl.atomic_min(nodes.stop, N, sem="relaxed")
    if needed:
        possible = (rate > 0) & (mass > 0) & (rest > 0)
        cut = tl.where(possible, tl.minimum(cut + mass / (rate * rest), LARGEST), cut)
        pair = pair_of(logits, chunks.normaliser, b, f, row, counts)
        masses = swept + (b * N + v) * C
        for chunk in range(start, tl.minimum(start + GROUP, C)):
            x = chunk * block.CHUNK + tl.arange(0, block.CHUNK)
            p = target_row(pair, x, V, logits.limits)
            q = proposal_row(pair, x, V)
            tl.store(masses + chunk, tl.sum(excess(p, cut, q), axis=0))

        tl.debug_barrier()  # this program's masses must be stored before it counts as finished
        if tl.atomic_add(nodes.finished_programs + v, 1, sem="acq_rel") == tl.num_programs(1) - 1:
            index = tl.arange(0, block.CHUNKS)
            total = tl.sum(tl.load(masses + index, mask=index < C, other=0.0, cache_modifier=".cg"), axis=0)
            if block.RULE == RATES:
                S = tl.where(mass > 0, rate * total / mass, 0.0)
                rate = tl.where(S > 0, share(S, S + (1 - rate)), 0.0)

            parent_of, token_of = family(tree, nodes.ids, N, block.NODES)
            after = next_child(f, v, parent_of, token_of, block.NODES)
            if after < block.NODES:
                if REPLACEMENT == 0:
                    of_row = chunks.sums + (b * (N + I) + N + row) * C
                    dropped = proposal_row(pair, chunk_of(nodes.ids, v, block), V)
                    rest = drop(dropped, of_row, f, v, parent_of, token_of, nodes.ids, block)
                tl.store(nodes.numbers + REST * N + f, rest)
            tl.store(nodes.numbers + RATE * N + f, rate)
            tl.store(nodes.numbers + CUT * N + f, cut)
            tl.store(nodes.numbers + MASS * N + f, total)
            if after < block.NODES:
                last = next_child(f, after, parent_of, token_of, block.NODES) == block.NODES
                entered = accept_child(f, after, rate, cut, total, rest, last, nodes, round, N, block.RULE)
                down = tl.where(entered > 0, after, block.NODES)
                enter_node(down, entered, parent_of, token_of, nodes, tree.turn, round, N, block)
            else:
                accept_node(f, rate, nodes, tree.turn, block.RULE)


@triton.jit
def chunk_of(ids, v, block):
    """The ids of the chunk that holds the token of node v."""
    return tl.load(ids + v) // block.CHUNK * block.CHUNK + tl.arange(0, block.CHUNK)


@triton.jit
def drop(row, masses, f, v, parent_of, token_of, ids, block):
    """The mass of f's row without the tokens of its children up to v; tokens before v's were dropped earlier.

    `row`: the probabilities in the chunk that holds v's token. It is summed again, since 1 minus the dropped
    mass would lose digits; `masses`: those of the row's chunks.
    """
    x = chunk_of(ids, v, block)
    child = next_child(f, 0, parent_of, token_of, block.NODES)
    while child <= v:
        row = tl.where(x == tl.load(ids + child), 0.0, row)
        child = next_child(f, child, parent_of, token_of, block.NODES)
    tl.store(masses + tl.load(ids + v) // block.CHUNK, tl.sum(row, axis=0))
    tl.debug_barrier()
    index = tl.arange(0, block.CHUNKS)
    return tl.sum(tl.load(masses + index, mask=index < block.C, other=0.0), axis=0)
