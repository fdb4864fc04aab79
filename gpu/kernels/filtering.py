"""Filters of whole rows of logits (top-k, top-p, min-p) without a sort, by a search for the last logit kept.

A first pass over a row keeps the largest logit of each span. The maxima alone bound the last logit kept from
below: k of them, or maxima of the mass that top-p asks for, reach the bound. A second pass gathers the logits
that reach it, from spans whose maxima do, and the search is made in these. A third pass writes the row; it
reads the spans that reach the last logit kept. One program works on one row.
"""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false, reportGeneralTypeIssues=false
# Triton declares that a reduction may be a tuple.
import torch
import triton
import triton.language as tl
from torch import Tensor

from draftproof.gpu.kernels.launch import run
from draftproof.gpu.kernels.nodes import LOG2_E
from draftproof.gpu.rows import Sampling

BLOCK, SPAN = 4096, 64
"""Logits that a program reads at once, and those of which it keeps the largest."""

DROPPED_BITS = {torch.float32: 0, torch.bfloat16: 16, torch.float16: 13}
"""The last bits of a float32 that are 0 in all numbers of a type."""


@triton.jit
def ordered(logits, LOW: tl.constexpr):
    """Integers in the order of float32 logits, from -2^(31 - LOW) to 2^(31 - LOW) - 1."""
    bits = (logits + 0.0).to(tl.int32, bitcast=True)  # -0.0 becomes 0.0
    return (bits ^ ((bits >> 31) & 0x7FFFFFFF)) >> LOW


@triton.jit
def masses(logits, shift, scale):
    """Probabilities of tokens with these logits, over that of the likeliest token, whose logit is `shift`."""
    return tl.exp2((logits - shift) * scale).to(tl.float64)


@triton.jit
def around(some, count, edge, shift, scale, LOW: tl.constexpr, BLOCK: tl.constexpr):
    """(mass, number) of the logits some[:count] above the integer `edge`, then of those that have it."""
    mass_above, mass_at = tl.full([], 0, tl.float64), tl.full([], 0, tl.float64)
    above, at = tl.full([], 0, tl.int32), tl.full([], 0, tl.int32)
    for start in range(0, count, BLOCK):
        x = start + tl.arange(0, BLOCK)
        logits = tl.load(some + x, mask=x < count, other=-float("inf")).to(tl.float32)
        key, mass = ordered(logits, LOW), masses(logits, shift, scale)
        mass_above += tl.sum(tl.where(key > edge, mass, 0.0), axis=0)
        mass_at += tl.sum(tl.where(key == edge, mass, 0.0), axis=0)
        above += tl.sum(((key > edge) & (x < count)).to(tl.int32), axis=0)
        at += tl.sum(((key == edge) & (x < count)).to(tl.int32), axis=0)
    return mass_above, above, mass_at, at


@triton.jit
def last_kept(
    some, count, least, most, need, shift, scale,
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
            x = start + tl.arange(0, BLOCK)
            logits = tl.load(some + x, mask=x < count, other=-float("inf")).to(tl.float32)
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
def spread(found, SPAN: tl.constexpr, BLOCK: tl.constexpr):
    """What was found of each span [BLOCK / SPAN], for each of its logits [BLOCK]."""
    return tl.reshape(tl.broadcast_to(found[:, None], (BLOCK // SPAN, SPAN)), (BLOCK,))


@triton.jit(do_not_specialize=["n", "k"])
def filter_rows(
    given,  # [B, n, V] logits
    out,  # [B, n, V], of the same type; first the gathered logits of a row
    maxima,  # [B, n, blocks, BLOCK / SPAN], of the same type: of the spans
    given_b, given_n, n, V,
    heat, k, top_p, min_p,
    TOP_K: tl.constexpr, TOP_P: tl.constexpr, LOW: tl.constexpr, SPAN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program per row; a row that is not finite, or all -inf, is copied as it is."""
    line = tl.program_id(0)
    b, i = (line // n).to(tl.int64), (line % n).to(tl.int64)
    row = given + b * given_b + i * given_n
    out += line.to(tl.int64) * V
    spans: tl.constexpr = BLOCK // SPAN
    maxima += line.to(tl.int64) * tl.cdiv(V, BLOCK) * spans
    scale = LOG2_E / heat

    shift = tl.full([], -float("inf"), tl.float32)
    whole = tl.full([], 0, tl.float64)
    strange = tl.full([], 0, tl.int32)
    for start in range(0, V, BLOCK):
        x = start + tl.arange(0, BLOCK)
        read = tl.load(row + x, mask=x < V, other=-float("inf"))
        logits = read.to(tl.float32)
        strange += tl.sum(((logits < float("inf")) == 0).to(tl.int32), axis=0)
        largest = tl.max(tl.reshape(logits, (spans, SPAN)), axis=1)
        tl.store(maxima + start // SPAN + tl.arange(0, spans), largest.to(read.dtype))
        if TOP_P and not TOP_K:
            highest = tl.maximum(shift, tl.max(largest, axis=0))
            base = tl.where(highest > -float("inf"), highest, 0.0)
            whole = whole * masses(shift, base, scale) + tl.sum(masses(logits, base, scale), axis=0)
            shift = highest
        else:
            shift = tl.maximum(shift, tl.max(largest, axis=0))
    fine = (strange == 0) & (shift > -float("inf"))
    shift = tl.where(fine, shift, 0.0)
    most = ordered(shift, LOW)
    last = ordered(tl.full([], -float("inf"), tl.float32), LOW) + 1  # -inf stays -inf
    ties = tl.full([], 0, tl.int32) + V
    tl.debug_barrier()

    if TOP_K or TOP_P:
        count, need, least_mass = tl.cdiv(V, SPAN), k.to(tl.float64), tl.full([], 0, tl.float64)
        if not TOP_K:
            need = tl.maximum(top_p * whole, 1.0)  # the likeliest token has the mass 1 and stays
            least_mass = (1 - 1e-5) * (1 - top_p) * whole / V  # all tokens below it have less than 1 - top_p
        bound = last_kept(maxima, count, last, most, need, shift, scale, not TOP_K, LOW, BLOCK)
        count, last = tl.full([], 0, tl.int32), most
        for start in range(0, V, BLOCK):
            x = start + tl.arange(0, BLOCK)
            largest = tl.load(maxima + start // SPAN + tl.arange(0, spans)).to(tl.float32)
            reached = (ordered(largest, LOW) >= bound) & (masses(largest, shift, scale) >= least_mass)
            read = tl.load(row + x, mask=(x < V) & spread(reached, SPAN, BLOCK), other=-float("inf"))
            logits = read.to(tl.float32)
            key = ordered(logits, LOW)
            taken = (key >= bound) & (masses(logits, shift, scale) >= least_mass)
            tl.store(out + count + tl.cumsum(taken.to(tl.int32), axis=0) - 1, read, mask=taken)
            count += tl.sum(taken.to(tl.int32), axis=0)
            last = tl.minimum(last, tl.min(tl.where(taken, key, most), axis=0))
        tl.debug_barrier()
        if TOP_K:
            last = last_kept(out, count, last, most, need, shift, scale, False, LOW, BLOCK)
            mass_above, above, mass_at, at = around(out, count, last, shift, scale, LOW, BLOCK)
            ties = k - above
            whole = mass_above + mass_at / tl.maximum(at, 1) * tl.minimum(ties, at)
            need = tl.maximum(top_p * whole, 1.0)
        if TOP_P:
            edge = last_kept(out, count, last, most, need, shift, scale, True, LOW, BLOCK)
            mass_above, _, mass_at, at = around(out, count, edge, shift, scale, LOW, BLOCK)
            wanted = tl.ceil((need - mass_above) / (mass_at / tl.maximum(at, 1)))
            at = tl.where(edge == last, tl.minimum(ties, at), at)
            ties = tl.maximum(tl.minimum(wanted, at.to(tl.float64)), 1.0).to(tl.int32)
            last = edge
        tl.debug_barrier()

    before = tl.full([], 0, tl.int32)
    for start in range(0, V, BLOCK):
        x = start + tl.arange(0, BLOCK)
        largest = tl.load(maxima + start // SPAN + tl.arange(0, spans)).to(tl.float32)
        reached = (ordered(largest, LOW) >= last) & (tl.exp2((largest - shift) * scale) >= min_p)
        seen = (x < V) & spread(reached | (fine == 0), SPAN, BLOCK)
        logits = tl.load(row + x, mask=seen, other=-float("inf"))
        wide = logits.to(tl.float32)
        key = ordered(wide, LOW)
        tie = (key == last).to(tl.int32)
        place = before + tl.cumsum(tie, axis=0)
        before += tl.sum(tie, axis=0)
        kept = (key > last) | ((tie > 0) & (place <= ties))
        kept = kept & (tl.exp2((wide - shift) * scale) >= min_p)
        tl.store(out + x, tl.where(kept | (fine == 0), wide, -float("inf")).to(logits.dtype), mask=x < V)


def filtered(sampling: Sampling, logits: Tensor) -> Tensor:
    """As `kernels.filtered`."""
    B, n, V = logits.shape
    logits = logits if logits.stride(-1) == 1 else logits.contiguous()
    out = logits.new_empty(B, n, V)
    maxima = logits.new_empty(B, n, -(-V // BLOCK), BLOCK // SPAN)
    run(filter_rows, B * n)(
        logits, out, maxima, logits.stride(0), logits.stride(1), n, V, sampling.heat, sampling.top_k,
        sampling.top_p, sampling.min_p, TOP_K=0 < sampling.top_k < V, TOP_P=sampling.top_p < 1,
        LOW=DROPPED_BITS[logits.dtype], SPAN=SPAN, BLOCK=BLOCK, num_warps=16,
    )  # fmt: skip
    return out
