"""Pass 1: softmax statistics of every row by chunks, then all that needs no second pass over the rows.

`chunk_statistics` reads every logit once. `opening` combines the chunks, and computes the drafted tokens'
probabilities, errors and the first rates.
"""

# pyright: reportOperatorIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.
import triton
import triton.language as tl

from draftproof.gpu.kernels.nodes import (
    BELOW_ONE,
    CELLS,
    COINS,
    FIELDS,
    LOG2_E,
    OCTET,
    PP,
    QQ,
    enter,
    limited,
    scales,
    settle,
)


@triton.jit(do_not_specialize=["N", "I", "placed"])
def chunk_statistics(
    target,  # [B, N, V] logits
    proposal,  # [B, I, V] logits, of the same type
    temperature,  # [B, 2]: of the target and of the proposal
    maxima,  # [B, N + I, C] out: the largest logit / temperature of each chunk, times log2 e
    sums,  # [B, N + I, C] out: sum of exp(logit / temperature), divided by 2^maximum
    places,  # [B, placed, C] out: the octet of the target's row with the largest logit of each chunk
    spans,  # [B, N, C, CHUNK / SPAN] out, or None: the largest logits of the target's spans
    target_b, target_n, proposal_b, proposal_n, N, I, V,
    placed,  # N, or 0 if `places` is not needed
    C: tl.constexpr,
    CHUNK: tl.constexpr,
    SPAN: tl.constexpr,
):  # fmt: skip
    """One program per chunk; `normalise` combines the chunks in the next kernel, so that no program waits."""
    program = tl.program_id(0)
    line = program // C
    b = (line // (N + I)).to(tl.int64)
    row = line % (N + I)
    scale = LOG2_E / tl.load(temperature + 2 * b + (row >= N).to(tl.int32))
    of_target = target + b * target_b + row.to(tl.int64) * target_n
    of_proposal = proposal + b * proposal_b + (row - N).to(tl.int64) * proposal_n
    x = program % C * CHUNK + tl.arange(0, CHUNK)
    at = tl.where(row < N, of_target, of_proposal)  # an if statement would double the code
    logits = tl.load(at + x, mask=x < V, other=-float("inf")).to(tl.float32)
    groups = tl.max(tl.reshape(logits, [CHUNK // OCTET, OCTET]), axis=1)
    largest = tl.max(groups, axis=0)
    maximum = largest * scale
    shift = tl.where(maximum == -float("inf"), 0.0, maximum)
    tl.store(maxima + program, maximum)
    tl.store(sums + program, tl.sum(tl.exp2(tl.fma(logits, scale, -shift)), axis=0))
    if spans is not None:  # noqa: SIM102  (decided when compiled)
        if row < N:
            each = tl.max(tl.reshape(groups, [CHUNK // SPAN, SPAN // OCTET]), axis=1)
            first = ((b * N + row) * C + program % C) * (CHUNK // SPAN)
            tl.store(spans + first + tl.arange(0, CHUNK // SPAN), each.to(spans.dtype.element_ty))
    if row < placed:
        index = tl.arange(0, CHUNK // OCTET)
        group = program % C * (CHUNK // OCTET) + tl.max(tl.where(groups == largest, index, 0), axis=0)
        tl.store(places + (b * placed + row) * C + program % C, group)


@triton.jit
def normalise(maxima, sums, normaliser, rows, C, ROWS: tl.constexpr, CHUNKS: tl.constexpr):
    """Stores log2 sum exp of each row (inf if not finite); turns `sums` into the chunks' probability
    masses.
    """
    for start in range(0, rows, ROWS):
        row = start + tl.arange(0, ROWS)
        chunk = tl.arange(0, CHUNKS)
        inside = (row < rows)[:, None] & (chunk < C)[None, :]
        at = row[:, None] * C + chunk[None, :]
        maximum = tl.load(maxima + at, mask=inside, other=-float("inf"))
        highest = tl.max(maximum, axis=1)
        highest = tl.where(highest == -float("inf"), 0.0, highest)
        mass = tl.load(sums + at, mask=inside, other=0.0) * tl.exp2(maximum - highest[:, None])
        total = tl.sum(mass, axis=1)
        fine = (total > 0) & (total < float("inf"))
        total = tl.where(fine, total, 1.0)
        tl.store(sums + at, mass / total[:, None], mask=inside)
        tl.store(normaliser + row, tl.where(fine, highest + tl.log2(total), float("inf")), mask=row < rows)


@triton.jit(do_not_specialize=["tree_b", "N", "I", "DEPTH"])
def opening(
    target,
    proposal,
    temperature,
    limits,  # [B, N, 2] of the target's rows, or None; see `filtering.find_limits`
    maxima,  # [B, N + I, C]
    sums,  # [B, N + I, C] in and out
    places,  # [B, N, C]
    normaliser,  # [B, N + I] out: log2 sum exp of the row
    parents, rows, turn,  # [1 or B, N]: tables of the tree
    tokens, coins,  # [B, N - 1]
    extra,  # [B]
    noise,  # [B, N] out: the coin of each node, below 1; 0 for the root
    ids,  # [B, N] out: the drawn tokens, -1 where none
    state,  # [B, FIELDS, N] out
    due,  # [B, N] out: the round of sweeps that computes a child's rejection; 0: none
    arrived,  # [B, N] out: number of programs of that sweep that have finished
    stop,  # [B] out: the smallest turn of a node known to be accepted
    error,  # [B] out
    target_b, target_n, proposal_b, proposal_n, tree_b, N, I, V, C: tl.constexpr, DEPTH,
    RULE: tl.constexpr, SAMPLED: tl.constexpr, NODES: tl.constexpr, ROWS: tl.constexpr,
    CHUNKS: tl.constexpr, CHUNK: tl.constexpr, AT_ONCE: tl.constexpr,
):  # fmt: skip
    """One program per request; loads that do not depend on the statistics come first, to overlap with
    them.
    """
    b = tl.program_id(0).to(tl.int64)
    nodes = tl.arange(0, NODES)
    node = nodes < N
    below = node & (nodes > 0)
    parent = tl.load(parents + b * tree_b + nodes, mask=below, other=0).to(tl.int32)
    token = tl.load(tokens + b * (N - 1) + nodes - 1, mask=below, other=-1)
    coin = tl.load(coins + b * (N - 1) + nodes - 1, mask=below, other=0.0)
    uniform = tl.load(extra + b)
    scale_p, scale_q = scales(temperature + 2 * b)
    bad_token = (token < -1) | (token >= V)
    within = below & (token >= 0) & (bad_token == 0)
    at = tl.where(within, token, 0).to(tl.int64)
    p_logit = tl.load(target + b * target_b + parent.to(tl.int64) * target_n + at, mask=within, other=0.0)
    if SAMPLED:
        row = tl.load(rows + b * tree_b + parent, mask=within, other=0)
        known = within & (row < I)
        q_logit = tl.load(proposal + b * proposal_b + row * proposal_n + at, mask=known, other=0.0)

    normaliser += b * (N + I)
    normalise(maxima + b * (N + I) * C, sums + b * (N + I) * C, normaliser, N + I, C, ROWS, CHUNKS)
    tl.debug_barrier()  # values stored above are loaded below

    parent_of = tl.where(below, parent, -1)
    there = (nodes == 0) | ((token >= 0) & below)
    for _ in range(DEPTH):
        there = there & (tl.gather(there.to(tl.int32), parent, 0) > 0)
    drawn = there & within
    norm_p = tl.load(normaliser + parent, mask=drawn, other=0.0)
    p_logit = limited(p_logit.to(tl.float32), at, limits, b * N + parent)
    p = tl.exp2(tl.fma(p_logit, scale_p, -norm_p))
    own = tl.load(normaliser + nodes, mask=there & node, other=0.0)
    bad_target = there & node & ((tl.abs(own) < float("inf")) == 0)
    q = tl.full([NODES], 1.0, tl.float32)
    bad_proposal = node & (nodes < 0)
    if SAMPLED:
        norm_q = tl.load(normaliser + N + row, mask=known & drawn, other=float("inf"))
        q = tl.exp2(tl.fma(q_logit.to(tl.float32), scale_q, -norm_q))
        bad_proposal = drawn & ((tl.abs(norm_q) < float("inf")) == 0)

    bad_coin = (((coin >= 0) & (coin <= 1)) == 0) & below
    wrong = tl.where(((uniform >= 0) & (uniform <= 1)), 0, 4)
    wrong = tl.where(tl.max(bad_coin.to(tl.int32), axis=0) > 0, 4, wrong)
    wrong = tl.where(tl.max((bad_token & below).to(tl.int32), axis=0) > 0, 3, wrong)
    wrong = tl.where(tl.max(bad_proposal.to(tl.int32), axis=0) > 0, 2, wrong)
    wrong = tl.where(tl.max(bad_target.to(tl.int32), axis=0) > 0, 1, wrong)
    tl.store(error + b, wrong)

    state += b * FIELDS * N
    ids_now = tl.where(drawn & (wrong == 0), token, -1).to(tl.int32)
    tl.store(state + PP * N + nodes, p, mask=node)
    tl.store(state + QQ * N + nodes, q, mask=node)
    tl.store(ids + b * N + nodes, ids_now, mask=node)
    tl.store(due + b * N + nodes, nodes * 0, mask=node)
    tl.store(arrived + b * N + nodes, nodes * 0, mask=node)
    tl.store(noise + b * N + nodes, tl.minimum(coin, BELOW_ONE), mask=node)
    tl.store(stop + b, N - 1)  # the root, whose turn is last, is always accepted
    tl.debug_barrier()
    if SAMPLED and RULE != CELLS:
        enter(
            tl.full([], 0, tl.int32), tl.full([], 1.0, tl.float32), parent_of, ids_now, state,
            noise + b * N, turn + b * tree_b, stop + b, due + b * N, 0, N, RULE, NODES,
        )  # fmt: skip
        if RULE != COINS:
            tl.debug_barrier()
            settle(
                target + b * target_b, proposal + b * proposal_b, temperature + 2 * b, limits,
                places + b * N * C, normaliser, parents + b * tree_b, rows + b * tree_b, turn + b * tree_b,
                ids + b * N, state, noise + b * N, due + b * N, stop + b, b * N, parent_of, ids_now, target_n,
                proposal_n, N, V, C, RULE, NODES, CHUNKS, CHUNK, AT_ONCE,
            )  # fmt: skip
