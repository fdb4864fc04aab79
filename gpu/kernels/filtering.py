"""Filters of whole rows of logits (top-k, top-p, min-p) without a sort, by a search for the last logit kept.

Logits are put in the order of integers, two bits of which a pass over the row settles: sixteen passes for
float32, eight for bfloat16, after which ties are kept from the lowest id on. One program reads one row, which
stays in the cache between passes.
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

BLOCK = 4096
DROPPED_BITS = {torch.float32: 0, torch.bfloat16: 16, torch.float16: 12}
"""The last bits of a float32 that are 0 in all numbers of a type, rounded down to an even number."""


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
def around(row, edge, shift, scale, V, LOW: tl.constexpr, BLOCK: tl.constexpr):
    """(mass, number) of the tokens above the integer `edge`, then of those that have it."""
    mass_above, mass_at = tl.full([], 0, tl.float64), tl.full([], 0, tl.float64)
    above, at = tl.full([], 0, tl.int32), tl.full([], 0, tl.int32)
    for start in range(0, V, BLOCK):
        x = start + tl.arange(0, BLOCK)
        logits = tl.load(row + x, mask=x < V, other=-float("inf")).to(tl.float32)
        key, mass = ordered(logits, LOW), masses(logits, shift, scale)
        mass_above += tl.sum(tl.where(key > edge, mass, 0.0), axis=0)
        mass_at += tl.sum(tl.where(key == edge, mass, 0.0), axis=0)
        above += tl.sum(((key > edge) & (x < V)).to(tl.int32), axis=0)
        at += tl.sum(((key == edge) & (x < V)).to(tl.int32), axis=0)
    return mass_above, above, mass_at, at


@triton.jit
def last_kept(row, need, shift, scale, V, MASS: tl.constexpr, LOW: tl.constexpr, BLOCK: tl.constexpr):
    """The largest integer so that the tokens from it on have the mass `need`, or are as many."""
    found = tl.full([], -(1 << (31 - LOW)), tl.int32)
    for step in range((32 - LOW) // 2):
        unit = 1 << (30 - LOW - 2 * step)
        first = tl.full([], 0, tl.float64)
        second, third = first, first
        for start in range(0, V, BLOCK):
            x = start + tl.arange(0, BLOCK)
            logits = tl.load(row + x, mask=x < V, other=-float("inf")).to(tl.float32)
            key = ordered(logits, LOW)
            added = masses(logits, shift, scale) if MASS else (x < V).to(tl.float64)
            first += tl.sum(tl.where(key >= found + unit, added, 0.0), axis=0)
            second += tl.sum(tl.where(key >= found + 2 * unit, added, 0.0), axis=0)
            third += tl.sum(tl.where(key >= found + 3 * unit, added, 0.0), axis=0)
        settled = (first >= need).to(tl.int32) + (second >= need).to(tl.int32) + (third >= need).to(tl.int32)
        found += unit * settled
    return found


@triton.jit(do_not_specialize=["n", "k"])
def filter_rows(
    given,  # [B, n, V] logits
    out,  # [B, n, V], of the same type
    given_b, given_n, n, V,
    heat, k, top_p, min_p,
    TOP_K: tl.constexpr, TOP_P: tl.constexpr, LOW: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """One program per row; a row that is not finite, or all -inf, is copied as it is."""
    line = tl.program_id(0)
    b, i = (line // n).to(tl.int64), (line % n).to(tl.int64)
    row = given + b * given_b + i * given_n
    out += line.to(tl.int64) * V
    scale = LOG2_E / heat

    highest = tl.full([], -float("inf"), tl.float32)
    strange = tl.full([], 0, tl.int32)
    for start in range(0, V, BLOCK):
        x = start + tl.arange(0, BLOCK)
        logits = tl.load(row + x, mask=x < V, other=-float("inf")).to(tl.float32)
        strange += tl.sum(((logits < float("inf")) == 0).to(tl.int32), axis=0)
        highest = tl.maximum(highest, tl.max(logits, axis=0))
    fine = (strange == 0) & (highest > -float("inf"))
    shift = tl.where(fine, highest, 0.0)

    last = tl.full([], -(1 << (31 - LOW)), tl.int32)
    ties = tl.full([], 0, tl.int32) + V
    if TOP_K:
        last = last_kept(row, k.to(tl.float64), shift, scale, V, False, LOW, BLOCK)
        _, above, _, _ = around(row, last, shift, scale, V, LOW, BLOCK)
        ties = k - above
    if TOP_P:
        mass_above, _, mass_at, at = around(row, last, shift, scale, V, LOW, BLOCK)
        whole = mass_above + mass_at / tl.maximum(at, 1) * tl.minimum(ties, at)
        need = tl.maximum(top_p * whole, 1.0)  # the likeliest token has the mass 1 and stays
        edge = last_kept(row, need, shift, scale, V, True, LOW, BLOCK)
        mass_above, _, mass_at, at = around(row, edge, shift, scale, V, LOW, BLOCK)
        most = tl.where(edge == last, tl.minimum(ties, at), at)
        wanted = tl.ceil((need - mass_above) / (mass_at / tl.maximum(at, 1)))
        ties = tl.maximum(tl.minimum(wanted, most.to(tl.float64)), 1.0).to(tl.int32)
        last = edge

    before = tl.full([], 0, tl.int32)
    for start in range(0, V, BLOCK):
        x = start + tl.arange(0, BLOCK)
        logits = tl.load(row + x, mask=x < V, other=-float("inf"))
        wide = logits.to(tl.float32)
        key = ordered(wide, LOW)
        tie = ((key == last) & (x < V)).to(tl.int32)
        place = before + tl.cumsum(tie, axis=0)
        before += tl.sum(tie, axis=0)
        kept = (key > last) | ((tie > 0) & (place <= ties))
        kept = kept & (tl.exp2((wide - shift) * scale) >= min_p)
        tl.store(out + x, tl.where(kept | (fine == 0), wide, -float("inf")).to(logits.dtype), mask=x < V)


def filtered(sampling: Sampling, logits: Tensor) -> Tensor:
    """As `kernels.filtered`."""
    B, n, V = logits.shape
    logits = logits if logits.stride(-1) == 1 else logits.contiguous()
    out = torch.empty_like(logits, memory_format=torch.contiguous_format)
    run(filter_rows, B * n)(
        logits, out, logits.stride(0), logits.stride(1), n, V, sampling.heat, sampling.top_k, sampling.top_p,
        sampling.min_p, TOP_K=0 < sampling.top_k < V, TOP_P=sampling.top_p < 1,
        LOW=DROPPED_BITS[logits.dtype], BLOCK=BLOCK, num_warps=16,
    )  # fmt: skip
    return out
