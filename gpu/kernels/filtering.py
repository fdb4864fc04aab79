"""Filters of whole rows of logits (top-k, top-p, min-p, greedy) without a sort: a search for what is kept.

The statistics of a row, which are needed anyway, include the largest logit of each span. The maxima alone
bound the last logit kept from below: k of them, or maxima of the mass that top-p asks for, reach the bound.
One program a row gathers the logits that reach it, from spans whose maxima do, and searches in these. What it
finds are the row's limits: the least logit kept, and the last id that has it. Each later reader of the row
applies them, so that no filtered row is written. The statistics of what is kept are taken from the spans that
reach the limit.
"""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.
from functools import lru_cache
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from draftproof.gpu.kernels import grid
from draftproof.gpu.kernels.nodes import LOG2_E, Chunks, Counts, Logits, Tree, limited, softened
from draftproof.gpu.kernels.opening import chunk_statistics
from draftproof.gpu.sampling.rows import Sampling, Settings, heats


class Search(NamedTuple):
    """What the compiler knows."""

    EACH: Any  # 1 if filters are those of each request, else 0
    TOP_K: Any  # whether any request drops logits by number, and by mass
    TOP_P: Any

    LOW: Any  # the bits of a float32 that are 0 in all logits
    SPAN: Any
    SPANS: Any  # the power of 2 from the number of spans of a row on
    CHUNKS: Any  # likewise of chunks
    BLOCK: Any  # logits that are searched at once


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
    sign = key >> 31
    bits = (key << LOW) | ((sign << LOW) ^ sign)  # all bits that were dropped are those of the sign
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)


@triton.jit
def last_kept(logits, least, most, need, norm, scale, MASS: tl.constexpr, LOW: tl.constexpr):
    """The largest integer from `least` to `most` so that the logits from it on have the mass `need`, or are
    as many; `least` if there is none. Each round leaves a quarter of the integers.
    """
    key = ordered(logits, LOW).to(tl.int64)
    each = softened(logits, scale, norm).to(tl.float64) if MASS else tl.full(logits.shape, 1, tl.float64)
    least, most = least.to(tl.int64), most.to(tl.int64)
    while least < most:
        unit = (most - least) // 4 + 1
        settled = tl.full([], 0, tl.int64)
        for part in tl.static_range(1, 4):
            reached = tl.sum(tl.where(key >= least + part * unit, each, 0.0), axis=0) >= need
            settled += reached.to(tl.int64)
        least += unit * settled
        most = tl.minimum(most, least + unit - 1)
    return least.to(tl.int32)


@triton.jit
def read_spans(row, reached, start, count, V, SPAN: tl.constexpr, BLOCK: tl.constexpr):
    """(x, logits) [BLOCK]: ids and logits of a row in the `count` spans reached, from place `start` on."""
    at = start // SPAN + tl.arange(0, BLOCK // SPAN)
    span = tl.load(reached + at, mask=at < count, other=-1)
    x = span[:, None] * SPAN + tl.arange(0, SPAN)[None, :]
    logits = tl.load(row + x, mask=(span >= 0)[:, None] & (x < V), other=-float("inf"))
    return tl.reshape(x, (BLOCK,)), tl.reshape(logits, (BLOCK,)).to(tl.float32)


@triton.jit
def thresholds(least, most, by_value, LOW: tl.constexpr):
    """Eight rising integers from `least` to `most`, equally far apart, or their logits are."""
    part = tl.arange(0, 8)
    between = (least + (most.to(tl.int64) - least) * part // 7).to(tl.int32)
    if by_value:
        share = part.to(tl.float32) / 7
        between = ordered(value(least, LOW) * (1 - share) + value(most, LOW) * share, LOW)
    return tl.where(part > 0, tl.minimum(tl.maximum(between, least + 1), most), least)


@triton.jit
def search(spans, held, V, least, most, need, norm, scale, MASS: tl.constexpr, sizes):
    """(edge, mass above, number above, number at it, held): as `last_kept`, of the logits of a row in the
    spans reached. While more than BLOCK logits are left, each pass over the spans leaves one part of seven.
    held: how many logits are gathered, if these are all from `least` on, else 0.
    """
    row, reached, found, gathered = spans
    mass_above = tl.full([], 0, tl.float64)
    above, count = tl.full([], 0, tl.int32), tl.where(held > 0, held, found * sizes.SPAN)
    part, passes = tl.arange(0, 8), tl.full([], 0, tl.int32)
    more = count > sizes.BLOCK
    while more:
        at = thresholds(least, most, passes % 4 < 3, sizes.LOW)
        mass, number = tl.zeros([8], tl.float64), tl.zeros([8], tl.int32)
        for start in range(0, found * sizes.SPAN, sizes.BLOCK):
            _, logits = read_spans(row, reached, start, found, V, sizes.SPAN, sizes.BLOCK)
            from_it = ordered(logits, sizes.LOW)[:, None] >= at[None, :]
            mass += tl.sum(tl.where(from_it, softened(logits, scale, norm)[:, None], 0.0), axis=0)
            number += tl.sum(from_it.to(tl.int32), axis=0)
        enough = (mass if MASS else number) >= need
        chosen = tl.maximum(tl.sum(enough.to(tl.int32), axis=0) - 1, 0)
        mine, after = part == chosen, part == chosen + 1
        if chosen < 7:
            most = tl.sum(tl.where(after, at, 0), axis=0) - 1
            mass_above = tl.sum(tl.where(after, mass, 0.0), axis=0)
            above = tl.sum(tl.where(after, number, 0), axis=0)
        least = tl.sum(tl.where(mine, at, 0), axis=0)
        count = tl.sum(tl.where(mine, number, 0), axis=0) - above
        more = (count > sizes.BLOCK) & (least < most)
        passes += 1
    if count <= sizes.BLOCK:
        count = held
        for start in range(0, tl.where(held > 0, 0, found * sizes.SPAN), sizes.BLOCK):
            _, logits = read_spans(row, reached, start, found, V, sizes.SPAN, sizes.BLOCK)
            key = ordered(logits, sizes.LOW)
            taken = (key >= least) & (key <= most)
            tl.store(gathered + count + tl.cumsum(taken.to(tl.int32), axis=0) - 1, logits, mask=taken)
            count += tl.sum(taken.to(tl.int32), axis=0)
        tl.debug_barrier()
        place = tl.arange(0, sizes.BLOCK)
        held = tl.where(above > 0, 0, count)
        logits = tl.load(gathered + place, mask=place < count, other=-float("inf"))
        key = ordered(logits, sizes.LOW)
        least = tl.min(tl.where(place < count, key, most), axis=0)
        rest = need - (mass_above if MASS else above)
        least = last_kept(logits, least, most, rest, norm, scale, MASS, sizes.LOW)
        mass = softened(logits, scale, norm).to(tl.float64)
        mass_above += tl.sum(tl.where(key > least, mass, 0.0), axis=0)
        above += tl.sum((key > least).to(tl.int32), axis=0)
        count = tl.sum((key == least).to(tl.int32), axis=0)
        tl.debug_barrier()
    return least, mass_above, above, count, held


@triton.jit
def find_limits(
    logits,
    chunks,  # as `opening.chunk_statistics` leaves them
    largest_logits,  # [B, N, S]: of the spans
    reached,  # [B, N, S] for the spans that reach the bound
    gathered,  # [B, N, BLOCK] for the last logits searched
    limits,  # [B, N, 2] out: the least logit kept, and the last id of those that have it
    counts,
    S,
    C,
    filters,  # (k, top_p, min_p), [B] each, or [1] for all requests: Triton would round a number to float32
    sizes,
):
    """One program per row of the target: k tokens are kept, the mass top_p, and probabilities from min_p of
    the largest. Of a row that is not finite, or all -inf, nothing is dropped.
    """
    N, I, V = counts.N, counts.I, counts.V
    line = tl.program_id(0).to(tl.int64)
    b, i = line // N, line % N
    ks, top_ps, min_ps = filters
    own = b * sizes.EACH
    k = tl.load(ks + own)
    top_p = tl.load(top_ps + own)
    row = logits.target + b * logits.target_b + i * logits.target_n
    reached += line * S
    gathered += line * sizes.BLOCK
    scale = LOG2_E / tl.load(logits.temperature + 2 * b)

    span, chunk = tl.arange(0, sizes.SPANS), tl.arange(0, sizes.CHUNKS)
    largest = tl.load(largest_logits + line * S + span, mask=span < S, other=-float("inf")).to(tl.float32)
    at = (b * (N + I) + i) * C + chunk
    maximum = tl.load(chunks.maxima + at, mask=chunk < C, other=-float("inf"))
    highest = tl.max(maximum, axis=0)
    highest = tl.where(highest > -float("inf"), highest, 0.0)
    mass = tl.load(chunks.sums + at, mask=chunk < C, other=0.0) * softened(maximum, scale, (highest, 1.0))
    whole = tl.sum(mass.to(tl.float64), axis=0)
    fine = (whole > 0) & (whole < float("inf"))
    shift = tl.where(fine, tl.max(largest, axis=0), 0.0)
    norm = shift, 1.0
    most = ordered(shift, sizes.LOW)
    last = ordered(tl.full([], -float("inf"), tl.float32), sizes.LOW) + 1  # -inf stays -inf
    place = tl.full([], 0, tl.int32) + V

    if sizes.TOP_K or sizes.TOP_P:
        floor = last
        need = k.to(tl.float64)
        if sizes.TOP_K:
            last = last_kept(largest, floor, most, need, norm, scale, False, sizes.LOW)
        if sizes.TOP_P:  # noqa: SIM102  (decided when compiled)
            if (top_p < 1) & (k >= V):
                need = tl.maximum(top_p * whole, 1.0)  # the likeliest token has the mass 1 and stays
                spared = tl.log2(((1 - top_p) * whole / V).to(tl.float32))  # tokens below have less in all
                below = shift + (spared - 0.01) / scale - tl.abs(shift) * 1e-6
                floor = tl.maximum(floor, ordered(below, sizes.LOW))
                last = last_kept(largest, floor, most, need, norm, scale, True, sizes.LOW)
        taken = (ordered(largest, sizes.LOW) >= last).to(tl.int32)
        found = tl.sum(taken, axis=0)
        tl.store(reached + tl.cumsum(taken, axis=0) - 1, span, mask=taken > 0)
        tl.debug_barrier()
        spans = row, reached, found, gathered
        held, ties = tl.full([], 0, tl.int32), tl.full([], 0, tl.int32)
        spots = held + V  # for the logits that equal the last one kept
        if sizes.TOP_K:  # noqa: SIM102  (decided when compiled)
            if k < V:
                last, mass_above, above, ties, held = search(
                    spans, held, V, last, most, need, norm, scale, False, sizes
                )  # fmt: skip
                spots = tl.load(ks + own) - above
                whole = mass_above + softened(value(last, sizes.LOW), scale, norm) * tl.minimum(spots, ties)
                need = tl.maximum(tl.load(top_ps + own) * whole, 1.0)
        if sizes.TOP_P:  # noqa: SIM102  (decided when compiled)
            if top_p < 1:
                edge, mass_above, above, ties, held = search(
                    spans, held, V, last, most, need, norm, scale, True, sizes
                )  # fmt: skip
                spots = tl.where(edge == last, tl.minimum(spots, ties), ties)
                wanted = tl.ceil((need - mass_above) / softened(value(edge, sizes.LOW), scale, norm))
                spots = tl.maximum(tl.minimum(wanted, spots.to(tl.float64)), 1.0).to(tl.int32)
                last = edge
        if spots < ties:
            before = tl.full([], 0, tl.int32)
            for start in range(0, found * sizes.SPAN, sizes.BLOCK):
                x, read = read_spans(row, reached, start, found, V, sizes.SPAN, sizes.BLOCK)
                tie = (ordered(read, sizes.LOW) == last).to(tl.int32)
                its = (tie > 0) & (before + tl.cumsum(tie, axis=0) == spots)
                place = tl.minimum(place, tl.min(tl.where(its, x, V), axis=0))
                before += tl.sum(tie, axis=0)

    min_p = tl.load(min_ps + own)
    low, high = last.to(tl.int64), most.to(tl.int64)  # the likeliest token always reaches min-p
    while low < high:
        middle = low + (high - low) // 2
        reaches = softened(value(middle.to(tl.int32), sizes.LOW), scale, norm) >= min_p
        low, high = tl.where(reaches, low, middle + 1), tl.where(reaches, middle, high)
    place = tl.where(low > last, V, place)
    tl.store(limits + 2 * line, tl.where(fine, value(low.to(tl.int32), sizes.LOW), -float("inf")))
    tl.store(limits + 2 * line + 1, tl.where(fine, place, V).to(tl.float32))


@triton.jit
def kept_statistics(
    logits,  # with limits
    chunks,  # as above; out: the sums of what the limits leave
    spans,  # as above
    copy,  # [B, N, V] out, or None: the rows that are left
    counts,
    C: tl.constexpr,
    SPAN: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """One program per chunk; it reads only spans that reach the least logit kept, eight of them at once."""
    N, I, V = counts.N, counts.I, counts.V
    program = tl.program_id(0).to(tl.int64)
    line, chunk = program // C, program % C
    b, i = line // N, line % N
    own = logits.target + b * logits.target_b + i * logits.target_n
    scale = LOG2_E / tl.load(logits.temperature + 2 * b)
    least = tl.load(logits.limits + 2 * line)
    at = (b * (N + I) + i) * C + chunk
    least = tl.where(tl.load(chunks.sums + at) == 0, float("inf"), least)  # all -inf, or not read
    maximum = tl.load(chunks.maxima + at)
    shift = tl.where(maximum == -float("inf"), 0.0, maximum)
    total = tl.full([], 0, tl.float32)
    for first in range(0, CHUNK // SPAN, 8):
        span = first + tl.arange(0, 8)
        reached = (tl.load(spans + program * (CHUNK // SPAN) + span).to(tl.float32) < least) == 0
        x = chunk * CHUNK + span[:, None] * SPAN + tl.arange(0, SPAN)[None, :]
        row = tl.full([8, SPAN], -float("inf"), tl.float32)
        if tl.max(reached.to(tl.int32), axis=0) > 0:
            read = tl.load(own + x, mask=reached[:, None] & (x < V), other=-float("inf"))
            row = limited(read.to(tl.float32), x, logits.limits, line)
            total += tl.sum(tl.sum(softened(row, scale, (shift, 1.0)), axis=1), axis=0)
        if copy is not None:
            tl.store(copy + line * V + x, row.to(copy.dtype.element_ty), mask=x < V)
    tl.store(chunks.sums + at, total)


@lru_cache(maxsize=256)
def alone(number: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    """[1]: a number on the device, which is put there once."""
    return torch.full((1,), number, dtype=dtype, device=device)


def filters_of(
    sampling: Settings, V: int, device: torch.device
) -> tuple[tuple[Tensor, ...], tuple[int, bool, bool]]:
    """What is kept, and the first fields of `Search`. The host does not read what each request asks for."""
    if isinstance(sampling, Sampling):
        greedy = sampling.temperature <= 0
        k, top_p, min_p = (1, 1.0, 0.0) if greedy else (sampling.top_k, sampling.top_p, sampling.min_p)
        given = (min(k or V, V), torch.int32), (top_p, torch.float64), (min_p, torch.float32)
        return tuple(alone(*each, device) for each in given), (0, 0 < k < V, top_p < 1)
    warm = sampling.temperature > 0
    k, top_p, min_p = sampling.top_k, sampling.top_p, sampling.min_p
    kept = torch.where(warm, V if k is None else torch.where((k > 0) & (k < V), k, V), 1).int()
    whole = torch.where(warm, 1.0 if top_p is None else top_p, 1.0)
    least = torch.where(warm, 0.0 if min_p is None else min_p, 0.0)
    return (kept, whole, least), (1, True, top_p is not None)


def statistics(
    sampling: Settings,
    logits: Logits,
    chunks: Chunks,
    counts: Counts,
    placed: int,
    split: grid.Split,
    copy: Tensor | None = None,
    draft: tuple[Tree, Tensor] | None = None,
) -> Logits:
    """Reads rows for the statistics in `chunks`; `placed`, `draft` are as in `opening.chunk_statistics`. With
    filters the target's become those of what is kept, which goes to `copy`. Returns the logits with their
    limits.
    """
    (N, I, V), C, size, span = counts, split.count, split.size, grid.SIZES.span
    target, B, S = logits.target, len(logits.target), C * size // span
    parts = {"C": C, "CHUNK": size, "SPAN": span, "num_warps": max(1, size // grid.SIZES.statistics)}
    spans = None if sampling.only_temperature else target.new_empty(B, N, S)
    grid.run(chunk_statistics, B * (N + I) * C)(
        logits, draft, chunks, spans, counts, placed, NODES=grid.power(N), **parts
    )  # fmt: skip
    if spans is None:
        return logits
    limits = torch.empty(B, N, 2, device=target.device)
    scratch = spans.new_empty(B, N, S, dtype=torch.int32), limits.new_empty(B, N, grid.SIZES.search)
    filters, known = filters_of(sampling, V, target.device)
    sizes = *known, DROPPED_BITS[target.dtype], span, grid.power(S), grid.power(C), grid.SIZES.search
    grid.run(find_limits, B * N)(
        logits, chunks, spans, *scratch, limits, counts, S, C, filters,
        sizes=grid.known(Search(*sizes)), num_warps=16,
    )  # fmt: skip
    logits = logits._replace(limits=limits)
    grid.run(kept_statistics, B * N * C)(logits, chunks, spans, copy, counts, **parts)
    return logits


def filtered(sampling: Settings, logits: Tensor) -> Tensor:
    """As `sampling.filtered`, of logits [B, n, V] in float32, bfloat16 or float16, without a sort; there are
    filters.

    The same tokens are kept up to rounding of the mass that top-p asks for, and the lowest id of equal ones.
    """
    logits = logits if logits.stride(-1) == 1 else logits.contiguous()
    rows = torch.empty_like(logits, memory_format=torch.contiguous_format)
    B, n, V = logits.shape
    split = grid.Split.of(B * n, V, logits.device)
    maxima, sums = torch.empty(2, B, n, split.count, device=logits.device)
    level = Logits(logits, logits, heats(sampling, logits), None, *logits.stride()[:2] * 2)
    with torch.cuda.device_of(logits):  # Triton launches on the current device; of Chunks two are not used
        statistics(sampling, level, Chunks(maxima, sums, sums, sums), Counts(n, 0, V), 0, split, rows)
    return rows
