"""Launches the kernels of one verification and allocates the memory they share; the host never waits."""

from functools import lru_cache, partial

import torch
import triton
from torch import Tensor

from draftproof.gpu.kernels import cells, grid
from draftproof.gpu.kernels.draw import draw
from draftproof.gpu.kernels.filtering import kept_statistics, limit
from draftproof.gpu.kernels.nodes import CELLS, COINS, FIELDS, RATES, UNCAPPED
from draftproof.gpu.kernels.opening import chunk_statistics, opening
from draftproof.gpu.kernels.plan import plan
from draftproof.gpu.kernels.sweep import sweep
from draftproof.gpu.kernels.walk import walk
from draftproof.gpu.sampling.rows import PLAIN, Sampling
from draftproof.gpu.sampling.tree import Tree
from draftproof.gpu.verify import Batch, Outcome
from draftproof.gpu.verify.cells import CLASSES, class_edges

RULES = {
    "token": COINS,
    "rrs": COINS,
    "specinfer": COINS,
    "block": RATES,
    "traversal": RATES,
    "greedy-block": UNCAPPED,
    "priority": CELLS,
    "lifted-priority": CELLS,
}
WALKS = {"one-hot": False, "nss": True}
"""Name of a verifier of deterministic drafts -> whether siblings share a coin."""


@lru_cache(maxsize=64)
def rounds(tree: Tree) -> int:
    """The length of the longest sequence of dependent sweeps: one for each earlier sibling on a path and for
    each child of the path's end. Exact for a shared tree, which is read back once; of per-row trees the
    largest number of leaves, since each of these nodes has a leaf of its own below it.
    """
    if not tree.shared:
        return tree.leaves
    parents = tree.parents[0].tolist()
    entered, tried = [0] * tree.size, [0] * tree.size
    for v in range(1, tree.size):
        f = parents[v]
        entered[v] = entered[f] + tried[f]
        tried[f] += 1
    return max(map(sum, zip(entered, tried, strict=True)))


def launch(name: str, batch: Batch, temperature: Tensor, filters: Sampling = PLAIN) -> Outcome:
    """Runs the kernels of that verifier on a batch of logits; temperature [B, 2]: for each request that of
    the target and that of the proposal. Filters apply to the target; the proposal is filtered already.
    """
    tree, target, proposal = batch.tree, batch.target, batch.proposal
    B, N, V = target.shape
    sampled = name in RULES and N > 1
    if not sampled or proposal is None:
        proposal = target[:, :0]
    if proposal.dtype != target.dtype:
        target, proposal = target.float(), proposal.float()
    I = proposal.shape[1]
    device = target.device
    split = grid.Split.of(B * (N + I), V, device)
    target, proposal = (rows if rows.stride(-1) == 1 else rows.contiguous() for rows in (target, proposal))
    tokens, coins, extra = batch.tokens.contiguous(), batch.coins.contiguous(), batch.extra.contiguous()
    tree_b = 0 if tree.shared else N
    parents, rows, turn, first = (
        table if tree.shared else table.expand(B, -1).contiguous()
        for table in (tree.parents, tree.rows, tree.turn, tree.first)
    )
    nodes = max(2, triton.next_power_of_2(N))
    chunks = max(2, triton.next_power_of_2(split.count))

    floats, ints, longs = (
        partial(torch.empty, dtype=dtype, device=device)
        for dtype in (torch.float32, torch.int32, torch.int64)
    )
    maxima, sums = floats(B, N + I, split.count), floats(B, N + I, split.count)
    normaliser, state, noise = floats(B, N + I), floats(B, FIELDS.value, N), floats(B, N)
    placed = (
        N if sampled and RULES[name] in (RATES, UNCAPPED) else 0
    )  # rows whose largest logits bound a rate
    places = ints(B, placed, split.count)
    by_cells = sampled and RULES[name] == CELLS
    swept = floats(B, 1 if by_cells else N, split.count) if sampled else floats(0)
    ids, due, arrived, stop = ints(B, N), ints(B, N), ints(B, N), ints(B)
    error, node, token = longs(B), longs(B), longs(B)
    if not B:
        return Outcome(node, token, error)

    of_target = (target.stride(0), target.stride(1))
    strides = (*of_target, proposal.stride(0), proposal.stride(1))
    spans = limits = None
    if not filters.only_temperature:
        spans = target.new_empty(B, N, split.count, split.size // grid.SIZES.span)
    sizes = {"NODES": nodes, "CHUNKS": chunks}
    whole_chunk = {"CHUNK": split.size, "num_warps": max(1, split.size // grid.SIZES.draw)}
    programs = B * (N + I) * split.count
    group = grid.SIZES.group if programs > grid.SIZES.many else 1
    grid.run(chunk_statistics, programs)(
        target, proposal, temperature, maxima, sums, places, spans, *strides, N, I, V, placed, split.count,
        CHUNK=split.size, SPAN=grid.SIZES.span, num_warps=max(1, split.size // grid.SIZES.statistics),
    )  # fmt: skip
    if spans is not None:
        limits = limit(filters, target, temperature, maxima, sums, spans)
        grid.run(kept_statistics, B * N * split.count)(
            target, temperature, limits, spans, maxima, sums, None, None, *of_target, 0, 0, N, I, V,
            split.count, SPAN=grid.SIZES.span, CHUNK=split.size,
            num_warps=max(1, split.size // grid.SIZES.statistics),
        )  # fmt: skip
    logits = (target, proposal, temperature, limits)
    rows_at_once = max(1, min(2048 // chunks, triton.next_power_of_2(N + I)))
    grid.run(opening, B)(
        *logits, maxima, sums, places, normaliser, parents, rows, turn, tokens, coins, extra,
        noise, ids, state, due, arrived, stop, error, *strides, tree_b, N, I, V, split.count, tree.depth,
        RULE=RULES.get(name, COINS), SAMPLED=sampled, ROWS=rows_at_once, CHUNK=split.size,
        AT_ONCE=max(1, min(nodes, 512 // chunks)), num_warps=grid.SIZES.opening if placed else 4, **sizes,
    )  # fmt: skip
    if by_cells:
        places = proposal if batch.strata is None else batch.strata
        places = places if places.stride(-1) == 1 else places.contiguous()
        most = tree.children.shape[2]
        groups = 1 if batch.strata is None else int(triton.next_power_of_2(most))
        levels = tree.levels if tree.shared else tree.levels.expand(B, -1).contiguous()
        found = floats(B, N, split.count, CLASSES, 2 * groups)
        edges = class_edges(device)
        cuts = torch.zeros(B, N, CLASSES, groups, device=device)
        strides = (*strides, places.stride(0), places.stride(1))
        strata = {"STRATA": batch.strata is not None, "G": groups}
        grid.run(cells.masses, B, N, split.count)(
            target, proposal, places, temperature, limits, normaliser, parents, rows, ids, found, *strides,
            tree_b, N, I, V, split.count, COLUMNS=max(16, 2 * groups), NODES=nodes, CHUNK=split.size,
            num_warps=8, **strata,
        )  # fmt: skip
        grid.run(plan, B)(
            found.double().sum(2), edges, state, ids, parents, levels, turn, noise, cuts, stop, tree_b, N,
            tree.depth, LIFT=name == "lifted-priority", K=most, G=groups,
            SIBLINGS=triton.next_power_of_2(most), NODES=nodes,
        )  # fmt: skip
        given = (
            target,
            proposal,
            places,
            temperature,
            limits,
            sums,
            normaliser,
            parents,
            rows,
            turn,
            ids,
            stop,
        )
        given = (*given, cuts, edges.float(), swept)
        grid.run(cells.leave, B, split.count)(
            *given, *strides, tree_b, N, I, V, split.count, NODES=nodes, **whole_chunk, **strata
        )
        grid.run(cells.draw, B)(
            *given, extra, error, node, token, *strides, tree_b, N, I, V, split.count, **sizes,
            **whole_chunk, **strata,
        )  # fmt: skip
        return Outcome(node, token, error)
    if sampled:
        for step in range(1, rounds(tree) + 1):
            grid.run(sweep, B, -(-split.count // group), N - 1)(
                *logits, sums, normaliser, parents, rows, turn, noise, ids, state, due, arrived,
                stop, swept, *strides, tree_b, step, N, I, V, split.count, GROUP=group, RULE=RULES[name],
                REPLACEMENT=tree.replacement, CHUNK=split.size,
                num_warps=max(1, split.size // grid.SIZES.sweep), **sizes,
            )  # fmt: skip
    elif name in WALKS:
        grid.run(walk, B)(
            target, temperature, limits, sums, normaliser, parents, first, turn, noise, ids, state, stop,
            *of_target, tree_b, N, V, split.count, ONE_COIN=WALKS[name], **sizes, **whole_chunk,
        )  # fmt: skip
    grid.run(draw, B)(
        *logits, sums, normaliser, parents, rows, turn, ids, state, stop, swept, extra, error,
        node, token, *strides, tree_b, N, I, V, split.count, SAMPLED=sampled, **sizes, **whole_chunk,
    )  # fmt: skip
    return Outcome(node, token, error)
