"""Pass 1: softmax statistics of every row by chunks, then all that needs no second pass over the rows.

`chunk_statistics` reads every logit of drafted nodes once. `opening` combines the chunks, and computes the
drafted tokens' probabilities, errors and the first rates.
"""

# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.

import triton
import triton.language as tl

from draftproof.gpu.kernels.nodes import (
    CELLS,
    COINS,
    LOG2_E,
    OCTET,
    PP,
    QQ,
    below_one,
    enter_node,
    limited,
    nodes_of,
    norm_of,
    reject_child,
    rounded_down,
    scales,
    softened,
    tree_of,
)


@triton.jit
def needed(tree, tokens, b, row, N, NODES: tl.constexpr):
    """Whether a row is the root's or that of a drafted token or, of the proposal, one was drawn from it."""
    tree = tree_of(tree, b)
    index = 1 + tl.arange(0, NODES)
    below = index < N
    parent = tl.load(tree.parents + index, mask=below, other=0)
    drawn_from = N + tl.load(tree.rows + parent, mask=below, other=0)
    its = below & (tl.where(row < N, index, drawn_from) == row)
    token = tl.load(tokens + b * (N - 1) + index - 1, mask=its, other=-1)
    return (row == 0) | (tl.max(token, axis=0) >= 0)


@triton.jit(do_not_specialize=["placed"])
def chunk_statistics(
    logits,
    draft,  # (tree, its tokens), or None: all rows are needed
    chunks,  # out: maxima, sums and places
    spans,  # [B, N, C, CHUNK / SPAN] out, or None: the largest logits of the target's spans
    counts,
    placed,  # N, or 0 if `places` is not needed
    C: tl.constexpr,
    CHUNK: tl.constexpr,
    SPAN: tl.constexpr,
    NODES: tl.constexpr,
):
    """One program per chunk; `normalise` combines the chunks in the next kernel, so that no program waits.
    A row that is not needed is not read: it counts as all -inf.
    """
    N, I, V = counts.N, counts.I, counts.V
    program = tl.program_id(0)
    line = program // C
    b = (line // (N + I)).to(tl.int64)
    row = line % (N + I)
    scale = LOG2_E / tl.load(logits.temperature + 2 * b + (row >= N).to(tl.int32))
    of_target = logits.target + b * logits.target_b + row.to(tl.int64) * logits.target_n
    of_proposal = logits.proposal + b * logits.proposal_b + (row - N).to(tl.int64) * logits.proposal_n
    x = program % C * CHUNK + tl.arange(0, CHUNK)
    at = tl.where(row < N, of_target, of_proposal)  # an if statement would double the code
    if draft is not None:
        V = tl.where(needed(draft[0], draft[1], b, row, N, NODES), V, 0)
    own = tl.load(at + x, mask=x < V, other=-float("inf")).to(tl.float32)
    groups = tl.max(tl.reshape(own, [CHUNK // OCTET, OCTET]), axis=1)
    largest = tl.max(groups, axis=0)
    shift = tl.where(largest == -float("inf"), 0.0, largest)
    tl.store(chunks.maxima + program, largest)
    tl.store(chunks.sums + program, tl.sum(tl.exp2((own - shift) * scale), axis=0))
    if spans is not None:  # noqa: SIM102  (decided when compiled)
        if row < N:
            each = tl.max(tl.reshape(groups, [CHUNK // SPAN, SPAN // OCTET]), axis=1)
            first = ((b * N + row) * C + program % C) * (CHUNK // SPAN)
            tl.store(spans + first + tl.arange(0, CHUNK // SPAN), each.to(spans.dtype.element_ty))
    if row < placed:
        index = tl.arange(0, CHUNK // OCTET)
        group = program % C * (CHUNK // OCTET) + tl.max(tl.where(groups == largest, index, 0), axis=0)
        tl.store(chunks.places + (b * placed + row) * C + program % C, group)


@triton.jit
def normalise(
    maxima, sums, normaliser, N, rows, scale_p, scale_q, C, ROWS: tl.constexpr, CHUNKS: tl.constexpr
):
    """Stores the largest logit of each row (inf if it is not finite) and its probability; makes `sums` the
    chunks' probability masses. The first N rows are the target's.
    """
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS)
        chunk = tl.arange(0, CHUNKS)
        inside = (row < rows)[:, None] & (chunk < C)[None, :]
        at = row[:, None] * C + chunk[None, :]
        maximum = tl.load(maxima + at, mask=inside, other=-float("inf"))
        highest = tl.max(maximum, axis=1)
        highest = tl.where(highest == -float("inf"), 0.0, highest)
        scale = tl.where(row < N, scale_p, scale_q)
        power = tl.exp2((maximum - highest[:, None]) * scale[:, None])
        mass = tl.load(sums + at, mask=inside, other=0.0) * power
        total = tl.sum(mass, axis=1)
        fine = (total > 0) & (total < float("inf"))
        total = tl.where(fine, total, 1.0)
        tl.store(sums + at, mass / total[:, None], mask=inside)
        tl.store(normaliser + 2 * row, tl.where(fine, highest, float("inf")), mask=row < rows)
        tl.store(normaliser + 2 * row + 1, 1 / total, mask=row < rows)


@triton.jit(do_not_specialize=["DEPTH"])
def opening(
    logits,
    chunks,  # of `chunk_statistics`; out: the masses of chunks, and the normalisers
    tree,
    given,  # tokens and coins [B, N - 1], and the number of the extra token [B]: float32 or float64
    nodes,  # out
    error,  # [B] out
    counts,
    DEPTH,
    block,
    SAMPLED: tl.constexpr,
    ROWS: tl.constexpr,
    AT_ONCE: tl.constexpr,
):
    """One program per request; loads that need no statistics come first, to overlap with them."""
    N, I, V = counts.N, counts.I, counts.V
    tokens, coins, extra = given
    b = tl.program_id(0).to(tl.int64)
    tree = tree_of(tree, b)
    nodes = nodes_of(nodes, b, N)
    index = tl.arange(0, block.NODES)
    node = index < N
    below = node & (index > 0)
    parent = tl.load(tree.parents + index, mask=below, other=0).to(tl.int32)
    token = tl.load(tokens + b * (N - 1) + index - 1, mask=below, other=-1)
    coin = tl.load(coins + b * (N - 1) + index - 1, mask=below, other=0.0)
    uniform = tl.load(extra + b)
    scale_p, scale_q = scales(logits.temperature + 2 * b)
    bad_token = (token < -1) | (token >= V)
    within = below & (token >= 0) & (bad_token == 0)
    at = tl.where(within, token, 0).to(tl.int64)
    own = logits.target + b * logits.target_b + parent.to(tl.int64) * logits.target_n + at
    p_logit = tl.load(own, mask=within, other=0.0)
    if SAMPLED:
        row = tl.load(tree.rows + parent, mask=within, other=0)
        known = within & (row < I)
        own = logits.proposal + b * logits.proposal_b + row * logits.proposal_n + at
        q_logit = tl.load(own, mask=known, other=0.0)

    normaliser = chunks.normaliser + 2 * b * (N + I)
    first = b * (N + I) * block.C
    normalise(
        chunks.maxima + first, chunks.sums + first, normaliser, N, N + I, scale_p, scale_q, block.C, ROWS,
        block.CHUNKS,
    )  # fmt: skip
    tl.debug_barrier()  # values stored above are loaded below

    parent_of = tl.where(below, parent, -1)
    there = (index == 0) | ((token >= 0) & below)
    for _ in range(DEPTH):
        there = there & (tl.gather(there.to(tl.int32), parent, 0) > 0)
    drawn = there & within
    p_logit = limited(p_logit.to(tl.float32), at, logits.limits, b * N + parent)
    p = softened(p_logit, scale_p, norm_of(normaliser, parent, drawn))
    largest = tl.load(normaliser + 2 * index, mask=there & node, other=0.0)
    bad_target = there & node & ((tl.abs(largest) < float("inf")) == 0)
    q = tl.full([block.NODES], 1.0, tl.float32)
    bad_proposal = node & (index < 0)
    if SAMPLED:
        largest, whole = norm_of(normaliser, N + row, known & drawn)
        q = softened(q_logit.to(tl.float32), scale_q, (largest, whole))
        bad_proposal = drawn & ((known == 0) | ((tl.abs(largest) < float("inf")) == 0))

    bad_coin = (((coin >= 0) & (coin <= 1)) == 0) & below
    wrong = tl.where(((uniform >= 0) & (uniform <= 1)), 0, 4)
    wrong = tl.where(tl.max(bad_coin.to(tl.int32), axis=0) > 0, 4, wrong)
    wrong = tl.where(tl.max((bad_token & below).to(tl.int32), axis=0) > 0, 3, wrong)
    wrong = tl.where(tl.max(bad_proposal.to(tl.int32), axis=0) > 0, 2, wrong)
    wrong = tl.where(tl.max(bad_target.to(tl.int32), axis=0) > 0, 1, wrong)
    tl.store(error + b, wrong)

    token_of = tl.where(drawn & (wrong == 0), token, -1).to(tl.int32)
    tl.store(nodes.numbers + PP * N + index, p, mask=node)
    tl.store(nodes.numbers + QQ * N + index, q, mask=node)
    tl.store(nodes.ids + index, token_of, mask=node)
    tl.store(nodes.pending_round + index, index * 0, mask=node)
    tl.store(nodes.finished_programs + index, index * 0, mask=node)
    tl.store(nodes.coins + index, rounded_down(below_one(coin)), mask=node)
    tl.store(nodes.stop, N - 1)  # the root, whose turn is last, is always accepted
    tl.debug_barrier()
    if SAMPLED and block.RULE != CELLS:
        enter_node(
            tl.full([], 0, tl.int32), tl.full([], 1.0, tl.float32), parent_of, token_of, nodes, tree.turn,
            0, N, block,
        )  # fmt: skip
        if block.RULE != COINS:
            tl.debug_barrier()
            reject_child(b, logits, chunks, tree, nodes, parent_of, token_of, counts, block, AT_ONCE)
