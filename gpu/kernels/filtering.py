"""Filters of whole rows of logits (top-k, top-p, min-p, greedy) without a sort: the last logit kept, by a search.

The statistics of a row, which are needed anyway, include the largest logit of each span. The maxima alone bound
the last logit kept from below: k of them, or maxima of the mass that top-p asks for, reach the bound. One
program a row gathers the logits that reach it, from spans whose maxima do, and searches in these. What it finds
are the row's limits, the least logit kept and the last id that has it, which every later reader of the row
applies. A second pass over the statistics reads only the spans that reach the limit.
"""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.
import torch
import triton
import triton.language as tl
from torch import Tensor

from draftproof.gpu.kernels import grid
from draftproof.gpu.kernels.nodes import LOG2_E, limited
from draftproof.gpu.rows import Sampling

DROPPED_BITS = {torch.float32: 0, torch.bfloat16: 16, torch.float16: 13}
"""The last bits of a float32 that are 0 in all numbers of a type."""


@triton.jit
def ordered(logits, LOW: tl.constexpr):
    """Integers in the order of float32 logits, from -2^(31 - LOW) to 2^(31 - LOW) - 1."""
    bits = (logits + 0.0).to(tl.int32, bitcast=True)  # -0.0 becomes 0.0
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)) >> LOW


@triton.jit
def value(key, LOW: tl.constexpr):
    """The float32 logit that has this integer."""
    bits = (key << LOW) | ((key >> 31) & ((1 << LOW) - 1))
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)


@triton.jit
def masses(logits, shift, scale):
    """Probabilities of tokens with these logits, over that of the likeliest token, whose logit is `shift`."""
    return tl.exp2((logits - shift) * scale).to(tl.float64)


@triton.jit
def block(head, some, start, count, BLOCK: tl.constexpr):
    """(x, logits): the places from `start` on, and the logits some[:count] there; `head` has the first ones."""
    x = start + tl.arange(0, BLOCK)
    later = tl.load(some + x, mask=(x < count) & (start > 0), other=-float("inf"))
    return x, tl.where(start > 0, later, head).to(tl.float32)


@triton.jit
def around(head, some, count, edge, shift, scale, LOW: tl.constexpr, BLOCK: tl.constexpr):
    """(mass, number) of the logits some[:count] above the integer `edge`, then of those that have it."""
    mass_above, mass_at = tl.full([], 0, tl.float64), tl.full([], 0, tl.float64)
    above, at = tl.full([], 0, tl.int32), tl.full([], 0, tl.int32)
    for start in range(0, count, BLOCK):
        x, logits = block(head, some, start, count, BLOCK)
        key, mass = ordered(logits, LOW), masses(logits, shift, scale)
        mass_above += tl.sum(tl.where(key > edge, mass, 0.0), axis=0)
        mass_at += tl.sum(tl.where(key == edge, mass, 0.0), axis=0)
        above += tl.sum(((key > edge) & (x < count)).to(tl.int32), axis=0)
        at += tl.sum(((key == edge) & (x < count)).to(tl.int32), axis=0)
    return mass_above, above, mass_at, at


@triton.jit
def last_kept(
    head, some, count, least, most, need, shift, scale,
    MASS: tl.constexpr, LOW: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The largest integer from `least` to `most` so that the logits some[:count] from it on have the mass
    `need`, or are as many; `least` if there is none. Each pass leaves a quarter of the integers.
    """
    least, most = least.to(tl.int64), most.to(tl.int64)
    while least < most:
        unit = (most - least) // 4 + 1
        first = tl.full([], 0, tl.float64)
        second, third = first, first
        for start in range(0, count, BLOCK):
            x, logits = block(head, some, start, count, BLOCK)
            key = ordered(logits, LOW)
            added = masses(logits, shift, scale) if MASS else (x < count).to(tl.float64)
            first += tl.sum(tl.where(key >= least + unit, added, 0.0), axis=0)
            second += tl.sum(tl.where(key >= least + 2 * unit, added, 0.0), axis=0)
            third += tl.sum(tl.where(key >= least + 3 * unit, added, 0.0), axis=0)
        settled = (first >= need).to(tl.int64) + (second >= need).to(tl.int64) + (third >= need).to(tl.int64)
        least += unit * settled
        most = tl.minimum(most, least + unit - 1)
    return least.to(tl.int32)


@triton.jit
def read_spans(row, reached, start, count, V, SPAN: tl.constexpr, BLOCK: tl.constexpr):
    """(x, logits) [BLOCK]: the ids and logits of a row in the `count` spans reached, from place `start` on."""
    at = start // SPAN + tl.arange(0, BLOCK // SPAN)
    span = tl.load(reached + at, mask=at < count, other=-1)
    x = span[:, None] * SPAN + tl.arange(0, SPAN)[None, :]
    logits = tl.load(row + x, mask=(span >= 0)[:, None] & (x < V), other=-float("inf"))
    return tl.reshape(x, (BLOCK,)), tl.reshape(logits, (BLOCK,))


@triton.jit(do_not_specialize=["n", "I", "k"])
def find_limits(
    logits,  # [B, n, V]
    temperature,  # [B, 2]
    maxima, sums,  # [B, n + I, C], as `opening.chunk_statistics` leaves them
    spans,  # [B, n, S]: the largest logits of the spans
    reached,  # [B, n, S] for the spans that reach the bound
    gathered,  # [B, n, V] for their logits that do
    limits,  # [B, n, 2] out: the least logit kept, and the last id of those that have it
    logits_b, logits_n, n, I, V, S, C: tl.constexpr, k, top_p, min_p,
    TOP_K: tl.constexpr, TOP_P: tl.constexpr, LOW: tl.constexpr, CHUNKS: tl.constexpr, SPAN: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """One program per row. Of a row that is not finite, or all -inf, nothing is dropped."""
    line = tl.program_id(0).to(tl.int64)
    b, i = line // n, line % n
    row = logits + b * logits_b + i * logits_n
    spans += line * S
    reached += line * S
    gathered += line * V
    scale = LOG2_E / tl.load(temperature + 2 * b)

    offsets = tl.arange(0, BLOCK)
    head = tl.load(spans + offsets, mask=offsets < S, other=-float("inf"))  # mostly all of them
    shift = tl.full([], -float("inf"), tl.float32)
    for start in range(0, S, BLOCK):
        _, largest = block(head, spans, start, S, BLOCK)
        shift = tl.maximum(shift, tl.max(largest, axis=0))
    chunks = tl.arange(0, CHUNKS)
    at = (b * (n + I) + i) * C + chunks
    maximum = tl.load(maxima + at, mask=chunks < C, other=-float("inf"))
    highest = tl.where(shift > -float("inf"), tl.max(maximum, axis=0), 0.0)
    mass = tl.load(sums + at, mask=chunks < C, other=0.0) * tl.exp2(maximum - highest)
    whole = tl.sum(mass.to(tl.float64), axis=0)
    fine = (whole > 0) & (whole < float("inf"))
    shift = tl.where(fine, shift, 0.0)
    most = ordered(shift, LOW)
    last = ordered(tl.full([], -float("inf"), tl.float32), LOW) + 1  # -inf stays -inf
    place = tl.full([], 0, tl.int32) + V

    if TOP_K or TOP_P:
        need, least_mass = k.to(tl.float64), tl.full([], 0, tl.float64)
        if not TOP_K:
            need = tl.maximum(top_p * whole, 1.0)  # the likeliest token has the mass 1 and stays
            least_mass = (1 - 1e-5) * (1 - top_p) * whole / V  # all tokens below it have less than 1 - top_p
        bound = last_kept(head, spans, S, last, most, need, shift, scale, not TOP_K, LOW, BLOCK)
        found = tl.full([], 0, tl.int32)
        for start in range(0, S, BLOCK):
            x, largest = block(head, spans, start, S, BLOCK)
            taken = (ordered(largest, LOW) >= bound) & (masses(largest, shift, scale) >= least_mass)
            tl.store(reached + found + tl.cumsum(taken.to(tl.int32), axis=0) - 1, x, mask=taken)
            found += tl.sum(taken.to(tl.int32), axis=0)
        tl.debug_barrier()
        count, last = tl.full([], 0, tl.int32), most
        for start in range(0, found * SPAN, BLOCK):
            _, read = read_spans(row, reached, start, found, V, SPAN, BLOCK)
            wide = read.to(tl.float32)
            key = ordered(wide, LOW)
            taken = (key >= bound) & (masses(wide, shift, scale) >= least_mass)
            tl.store(gathered + count + tl.cumsum(taken.to(tl.int32), axis=0) - 1, read, mask=taken)
            count += tl.sum(taken.to(tl.int32), axis=0)
            last = tl.minimum(last, tl.min(tl.where(taken, key, most), axis=0))
        tl.debug_barrier()
        head = tl.load(gathered + offsets, mask=offsets < count, other=-float("inf"))
        ties = tl.full([], 0, tl.int32) + V
        at_edge = ties
        if TOP_K:
            last = last_kept(head, gathered, count, last, most, need, shift, scale, False, LOW, BLOCK)
            mass_above, above, mass_at, at_edge = around(head, gathered, count, last, shift, scale, LOW, BLOCK)
            ties = k - above
            whole = mass_above + mass_at / tl.maximum(at_edge, 1) * tl.minimum(ties, at_edge)
            need = tl.maximum(top_p * whole, 1.0)
        if TOP_P:
            edge = last_kept(head, gathered, count, last, most, need, shift, scale, True, LOW, BLOCK)
            mass_above, _, mass_at, have = around(head, gathered, count, edge, shift, scale, LOW, BLOCK)
            wanted = tl.ceil((need - mass_above) / (mass_at / tl.maximum(have, 1)))
            there = tl.where(edge == last, tl.minimum(ties, have), have)
            ties = tl.maximum(tl.minimum(wanted, there.to(tl.float64)), 1.0).to(tl.int32)
            at_edge = have
            last = edge
        if ties < at_edge:
            before = tl.full([], 0, tl.int32)
            for start in range(0, found * SPAN, BLOCK):
                x, read = read_spans(row, reached, start, found, V, SPAN, BLOCK)
                tie = (ordered(read.to(tl.float32), LOW) == last).to(tl.int32)
                it = (tie > 0) & (before + tl.cumsum(tie, axis=0) == ties)
                place = tl.minimum(place, tl.min(tl.where(it, x, V), axis=0))
                before += tl.sum(tie, axis=0)

    low, high = last.to(tl.int64), most.to(tl.int64)  # the likeliest token always reaches min-p
    while low < high:
        middle = low + (high - low) // 2
        reaches = tl.exp2((value(middle.to(tl.int32), LOW) - shift) * scale) >= min_p
        low, high = tl.where(reaches, low, middle + 1), tl.where(reaches, middle, high)
    place = tl.where(low > last, V, place)
    tl.store(limits + 2 * line, tl.where(fine, value(low.to(tl.int32), LOW), -float("inf")))
    tl.store(limits + 2 * line + 1, tl.where(fine, place, V).to(tl.float32))


@triton.jit(do_not_specialize=["n", "I"])
def kept_statistics(
    logits,  # [B, n, V]
    temperature,  # [B, 2]
    limits, spans,  # as above
    maxima, sums,  # [B, n + I, C]: as above; out, the sums of what the limits leave
    out,  # [B, ?, V] out, or None: the rows that are left
    places,  # [n]: where each row is copied to
    logits_b, logits_n, out_b, out_n, n, I, V, C: tl.constexpr, SPAN: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """One program per chunk; it reads only spans that reach the least logit kept, eight of them at once."""
    program = tl.program_id(0).to(tl.int64)
    line, chunk = program // C, program % C
    b, i = line // n, line % n
    logits += b * logits_b + i * logits_n
    scale = LOG2_E / tl.load(temperature + 2 * b)
    least = tl.load(limits + 2 * line)
    at = (b * (n + I) + i) * C + chunk
    maximum = tl.load(maxima + at)
    shift = tl.where(maximum == -float("inf"), 0.0, maximum)
    total = tl.full([], 0, tl.float32)
    for start in range(0, CHUNK, 8 * SPAN):
        span = start // SPAN + tl.arange(0, 8)
        reached = (tl.load(spans + program * (CHUNK // SPAN) + span).to(tl.float32) < least) == 0
        x = chunk * CHUNK + span[:, None] * SPAN + tl.arange(0, SPAN)[None, :]
        row = tl.full([8, SPAN], -float("inf"), tl.float32)
        if tl.max(reached.to(tl.int32), axis=0) > 0:
            read = tl.load(logits + x, mask=reached[:, None] & (x < V), other=-float("inf"))
            row = limited(read.to(tl.float32), x, limits, line)
            total += tl.sum(tl.sum(tl.exp2(tl.fma(row, scale, -shift)), axis=1), axis=0)
        if out is not None:
            to = out + b * out_b + tl.load(places + i) * out_n
            tl.store(to + x, row.to(out.dtype.element_ty), mask=x < V)
    tl.store(sums + at, total)


def limit(
    sampling: Sampling, logits: Tensor, temperature: Tensor, maxima: Tensor, sums: Tensor, spans: Tensor
) -> Tensor:
    """The limits [B, n, 2] of rows [B, n, V], from their statistics and those of rows behind them
    [B, n + I, C], and from the largest logits of their spans [B, n, C, CHUNK / SPAN].
    """
    B, n, V = logits.shape
    S, C = spans[0, 0].numel(), spans.shape[2]
    limits = torch.empty(B, n, 2, device=logits.device)
    greedy = sampling.temperature <= 0
    k, top_p, min_p = (1, 1.0, 0.0) if greedy else (sampling.top_k, sampling.top_p, sampling.min_p)
    searched = 0 < k < V or top_p < 1
    grid.run(find_limits, B * n)(
        logits, temperature, maxima, sums, spans, spans.new_empty(B, n, S, dtype=torch.int32),
        logits.new_empty(B, n, V if searched else 0), limits, logits.stride(0), logits.stride(1), n, maxima.shape[1] - n, V, S, C,
        k, top_p, min_p, TOP_K=0 < k < V, TOP_P=top_p < 1, LOW=DROPPED_BITS[logits.dtype],
        CHUNKS=max(2, triton.next_power_of_2(C)), SPAN=grid.SIZES.span, BLOCK=grid.SIZES.search, num_warps=16,
    )  # fmt: skip
    return limits
