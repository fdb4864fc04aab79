"""Pass 2: residual masses for the rejections that are due; the last program continues down the tree."""

import triton
import triton.language as tl

from draftproof.gpu.kernels.nodes import (
    COINS,
    CUT,
    FIELDS,
    LARGEST,
    LOG2_E,
    MASS,
    RATE,
    RATES,
    REST,
    accept,
    attempt,
    enter,
    excess,
    law,
    next_child,
    share,
)


@triton.jit(do_not_specialize=["tree_b", "round", "N", "I", "C"])
def sweep(
    target,
    proposal,
    temperature,
    limits,
    sums,  # [B, N + I, C] chunk masses; rejected tokens are removed from rows of q
    normaliser, parents, rows, turn, noise, ids, state, due, arrived, stop,
    swept,  # [B, N, C] out: masses of (p - cut q)+ after a child's rejection
    target_b, target_n, proposal_b, proposal_n, tree_b, round, N, I, V, C, GROUP: tl.constexpr,
    RULE: tl.constexpr, REPLACEMENT: tl.constexpr, NODES: tl.constexpr, CHUNKS: tl.constexpr,
    CHUNK: tl.constexpr,
):  # fmt: skip
    """One program per (child, request, GROUP chunks); later nodes first, since their acceptance saves work.

    A program reads logits only if its child's rejection is due and no node with an earlier turn is accepted.
    If such a node is accepted during a sweep, the sweep stays incomplete and its result is not used.
    """
    b = tl.program_id(0).to(tl.int64)
    start = tl.program_id(1) * GROUP
    v = N - 1 - tl.program_id(2)
    turn += b * tree_b
    f = tl.load(parents + b * tree_b + v).to(tl.int32)
    own = tl.load(turn + v)
    needed = tl.load(due + b * N + v) == round
    # Loaded before `stop` is compared, so that one wait covers all three loads.
    state += b * FIELDS * N
    rate = tl.load(state + RATE * N + f, mask=needed, other=0.0)
    cut = tl.load(state + CUT * N + f, mask=needed, other=0.0)
    mass = tl.load(state + MASS * N + f, mask=needed, other=0.0)
    rest = tl.load(state + REST * N + f, mask=needed, other=0.0)
    row = tl.load(rows + b * tree_b + f, mask=needed, other=0).to(tl.int32)
    norm_p = tl.load(normaliser + b * (N + I) + f, mask=needed, other=0.0)
    of_p = tl.load(temperature + 2 * b, mask=needed, other=1.0)
    of_q = tl.load(temperature + 2 * b + 1, mask=needed, other=1.0)
    if needed:
        # Other programs may lower `stop` meanwhile. An atomic gives all threads the same value, a load might
        # not.
        needed = own < tl.atomic_min(stop + b, N, sem="relaxed")
    if needed:
        norm_q = tl.load(normaliser + b * (N + I) + N + row)
        possible = (rate > 0) & (mass > 0) & (rest > 0)
        cut = tl.where(possible, tl.minimum(cut + mass / (rate * rest), LARGEST), cut)
        scale_p = LOG2_E / of_p
        scale_q = LOG2_E / of_q
        target += b * target_b + f.to(tl.int64) * target_n
        proposal += b * proposal_b + row.to(tl.int64) * proposal_n
        swept += (b * N + v) * C
        for chunk in range(start, tl.minimum(start + GROUP, C)):
            x = chunk * CHUNK + tl.arange(0, CHUNK)
            p = law(target, x, scale_p, norm_p, V, limits, b * N + f)
            q = law(proposal, x, scale_q, norm_q, V)
            tl.store(swept + chunk, tl.sum(excess(p, cut, q), axis=0))

        tl.debug_barrier()  # this program's masses must be stored before it counts as arrived
        if tl.atomic_add(arrived + b * N + v, 1, sem="acq_rel") == tl.num_programs(1) - 1:
            chunks = tl.arange(0, CHUNKS)
            total = tl.sum(tl.load(swept + chunks, mask=chunks < C, other=0.0, cache_modifier=".cg"), axis=0)
            if RULE == RATES:
                S = tl.where(mass > 0, rate * total / mass, 0.0)
                rate = tl.where(S > 0, share(S, S + (1 - rate)), 0.0)
            elif RULE != COINS:
                S = rate * total
                rate = tl.where(rate < 1, share(S, S + (1 - rate)), 1.0)

            nodes = tl.arange(0, NODES)
            below = (nodes > 0) & (nodes < N)
            parent_of = tl.load(parents + b * tree_b + nodes, mask=below, other=-1).to(tl.int32)
            ids += b * N
            token_of = tl.load(ids + nodes, mask=below, other=-1)
            after = next_child(f, v, parent_of, token_of, NODES)
            if after < NODES:
                if REPLACEMENT == 0:
                    masses = sums + (b * (N + I) + N + row) * C
                    rest = drop(
                        proposal, norm_q, scale_q, None, 0, masses, f, v, parent_of, token_of, ids, V, C,
                        NODES, CHUNKS, CHUNK,
                    )  # fmt: skip
                tl.store(state + REST * N + f, rest)
            tl.store(state + RATE * N + f, rate)
            tl.store(state + CUT * N + f, cut)
            tl.store(state + MASS * N + f, total)
            due += b * N
            noise += b * N
            if after < NODES:
                last = next_child(f, after, parent_of, token_of, NODES) == NODES
                entered = attempt(f, after, rate, cut, total, rest, last, state, noise, due, round, N, RULE)
                down = tl.where(entered > 0, after, NODES)
                enter(
                    down, entered, parent_of, token_of, state, noise, turn, stop + b, due, round, N,
                    RULE, NODES,
                )  # fmt: skip
            else:
                accept(f, rate, noise, turn, stop + b, RULE)


@triton.jit
def drop(
    row, normaliser, scale, limits, line, masses, f, v, parent_of, token_of, ids, V, C, NODES: tl.constexpr,
    CHUNKS: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """The mass of f's row without the tokens of its children up to v; tokens before v's were dropped earlier.

    The chunk that holds v's token is summed again, since 1 minus the dropped mass would lose digits.
    """
    chunk = tl.load(ids + v) // CHUNK
    x = chunk * CHUNK + tl.arange(0, CHUNK)
    kept = law(row, x, scale, normaliser, V, limits, line)
    child = next_child(f, 0, parent_of, token_of, NODES)
    while child <= v:
        kept = tl.where(x == tl.load(ids + child), 0.0, kept)
        child = next_child(f, child, parent_of, token_of, NODES)
    tl.store(masses + chunk, tl.sum(kept, axis=0))
    tl.debug_barrier()
    chunks = tl.arange(0, CHUNKS)
    return tl.sum(tl.load(masses + chunks, mask=chunks < C, other=0.0), axis=0)
