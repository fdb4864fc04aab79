"""Draws drafted tokens from logits: a level of a tree in two launches, with or without replacement.

A row is read once, for its softmax and for a copy that verification reads, and of each drawn token one chunk
again.
"""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false
# Triton declares that a reduction may be a tuple.
import torch
import triton
import triton.language as tl
from torch import Tensor

from draftproof.gpu.kernels.draw import choose
from draftproof.gpu.kernels.launch import SIZES, Split, run
from draftproof.gpu.kernels.nodes import BELOW_ONE, LOG2_E, law

FAINT = tl.constexpr(1e-30)
"""A chunk of less mass is empty: below about 1e-34 its tokens may be rounded to 0 one by one."""


@triton.jit(do_not_specialize=["n"])
def level_statistics(
    logits,  # [B, n, V]
    temperature,  # [B]
    places,  # [n]: where each row is copied to
    rows,  # [B, I, V] out
    maxima, sums,  # [B, n, C] out, as those of `opening.chunk_statistics`
    logits_b, logits_n, rows_b, rows_n, n, V, C: tl.constexpr, CHUNK: tl.constexpr,
):  # fmt: skip
    """One program per chunk."""
    program = tl.program_id(0)
    line = program // C
    b, i = (line // n).to(tl.int64), (line % n).to(tl.int64)
    x = program % C * CHUNK + tl.arange(0, CHUNK)
    given = tl.load(logits + b * logits_b + i * logits_n + x, mask=x < V, other=-float("inf"))
    tl.store(rows + b * rows_b + tl.load(places + i) * rows_n + x, given, mask=x < V)
    scale = LOG2_E / tl.load(temperature + b)
    row = given.to(tl.float32)
    maximum = tl.max(row, axis=0) * scale
    shift = tl.where(maximum == -float("inf"), 0.0, maximum)
    tl.store(maxima + program, maximum)
    tl.store(sums + program, tl.sum(tl.exp2(tl.fma(row, scale, -shift)), axis=0))


@triton.jit(do_not_specialize=["n", "N"])
def draw_children(
    logits,  # [B, n, V]
    temperature,  # [B]
    maxima, sums,  # [B, n, C], as `level_statistics` leaves them
    uniforms,  # [B, N] float64 below 1, one for each drafted node
    own,  # [n]: the place of each node's own token, -1 for the root
    children,  # [n, K]: the places of its children's tokens in drawing order, then -1
    tokens,  # [B, N] in and out; V for a token that is not drawn
    logits_b, logits_n, n, N, V, C: tl.constexpr,
    K: tl.constexpr, REPLACEMENT: tl.constexpr, PLACES: tl.constexpr, CHUNKS: tl.constexpr,
    CHUNK: tl.constexpr,
):  # fmt: skip
    """One program per (request, node). Nothing is drawn below a token that was not drawn, nor from a row
    that is not finite or whose support has run out.
    """
    b, i = tl.program_id(0).to(tl.int64), tl.program_id(1)
    chunks, places = tl.arange(0, CHUNKS), tl.arange(0, PLACES)
    logits += b * logits_b + i.to(tl.int64) * logits_n
    uniforms += b * N
    tokens += b * N
    mine = tl.load(own + i)
    there = tl.load(tokens + mine, mask=mine >= 0, other=0) < V

    at = (b * n + i) * C + chunks
    maximum = tl.load(maxima + at, mask=chunks < C, other=-float("inf"))
    highest = tl.max(maximum, axis=0)
    highest = tl.where(highest == -float("inf"), 0.0, highest)
    masses = tl.load(sums + at, mask=chunks < C, other=0.0) * tl.exp2(maximum - highest)
    total = tl.sum(masses, axis=0)
    fine = there & (total > 0) & (total < float("inf"))
    total = tl.where(fine, total, 1.0)
    masses = tl.where(fine & (masses > total * FAINT), masses / total, 0.0)
    normaliser = highest + tl.log2(total)
    scale = LOG2_E / tl.load(temperature + b)

    taken = tl.full([PLACES], -1, tl.int64)
    for k in range(K):
        place = tl.load(children + i * K + k)
        if place >= 0:
            exact = masses.to(tl.float64)
            whole = tl.sum(exact, axis=0)
            u = tl.minimum(tl.load(uniforms + place), BELOW_ONE)
            chunk, left = choose(exact, u * whole, chunks)
            x = chunk * CHUNK + tl.arange(0, CHUNK)
            row = law(logits, x, scale, normaliser, V)
            if not REPLACEMENT:
                for j in range(k):
                    row = tl.where(x == tl.sum(tl.where(places == j, taken, 0), axis=0), 0.0, row)
            found, _ = choose(row.to(tl.float64), left, x)
            token = tl.where(whole > 0, found, V).to(tl.int64)
            tl.store(tokens + place, token)
            if not REPLACEMENT:
                taken = tl.where(places == k, token, taken)
                rest = tl.sum(tl.where(x == token, 0.0, row), axis=0)
                masses = tl.where(chunks == chunk, rest, masses)


def draw_level(
    logits: Tensor,
    heat: float,
    uniforms: Tensor,
    own: Tensor,
    children: Tensor,
    tokens: Tensor,
    rows: Tensor,
    places: Tensor,
    replacement: bool,
) -> None:
    """Draws the children of a level's n nodes from their logits [B, n, V] over `heat` into `tokens` [B, N],
    and copies the logits to rows[:, places]; rows [B, I, V], places [n].

    uniforms [B, N]: float64 below 1, one for each drafted node; own [n]: the place of each node's own token,
    -1 for the root; children [n, K]: the places of its children's tokens in drawing order, then -1. V stands
    for a token that is not drawn: below such a token, of a row that is not finite, and where the support has
    run out. A token is the first whose cumulative probability exceeds the uniform number times the mass that
    is left, as in `verify.residual.draws`, up to rounding.
    """
    B, n, V = logits.shape
    logits = logits if logits.stride(-1) == 1 else logits.contiguous()
    split = Split.of(B * n, V, logits.device)
    statistics = torch.empty(2, B, n, split.count, device=logits.device)
    temperature = torch.full((B,), heat, device=logits.device)
    most, N = children.shape[1], tokens.shape[1]
    strides = logits.stride(0), logits.stride(1)
    with torch.cuda.device_of(logits):  # Triton launches on the current device
        run(level_statistics, B * n * split.count)(
            logits, temperature, places, rows, *statistics, *strides, rows.stride(0), rows.stride(1), n, V,
            split.count, CHUNK=split.size, num_warps=max(1, split.size // SIZES.statistics),
        )  # fmt: skip
        run(draw_children, B, n)(
            logits, temperature, *statistics, uniforms.contiguous(), own, children, tokens, *strides, n, N, V,
            split.count, K=most, REPLACEMENT=replacement, PLACES=max(2, triton.next_power_of_2(most)),
            CHUNKS=max(2, triton.next_power_of_2(split.count)), CHUNK=split.size,
            num_warps=max(1, split.size // SIZES.draw),
        )  # fmt: skip
