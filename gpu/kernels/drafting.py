"""Draws drafted tokens from logits: a level of a tree in two launches, with or without replacement.

A row is read once, for its softmax and for a copy that verification reads, and of each drawn token one chunk
again. Filters take two launches more, and reads of the spans that they keep.
"""

# pyright: reportOperatorIssue=false, reportAttributeAccessIssue=false
# Triton declares that a reduction may be a tuple.
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from draftproof.gpu import kernels
from draftproof.gpu.kernels import grid
from draftproof.gpu.kernels.draw import choose
from draftproof.gpu.kernels.filtering import Copy, statistics
from draftproof.gpu.kernels.nodes import LOG2_E, Chunks, Counts, Logits, below_one, law
from draftproof.gpu.sampling.rows import Sampling, Settings, heats

FAINT = tl.constexpr(1e-30)
"""A chunk of less mass is empty: below about 1e-34 its tokens may be rounded to 0 one by one."""


class Uniforms(NamedTuple):
    """Which tokens are drawn, and by what."""

    uniforms: Any  # [B, N] float64 below 1, one for each drafted node
    own: Any  # [n]: the place of each node's own token, -1 for the root
    children: Any  # [n, K]: the places of its children's tokens in drawing order, then -1
    tokens: Any  # [B, N] in and out; V for a token that is not drawn
    N: Any


@triton.jit
def level_statistics(
    level,
    copy,  # out
    chunks,  # out: maxima and sums, as those of `opening.chunk_statistics`
    counts,
    C: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """One program per chunk."""
    program = tl.program_id(0)
    line = program // C
    b, i = (line // counts.N).to(tl.int64), (line % counts.N).to(tl.int64)
    x = program % C * CHUNK + tl.arange(0, CHUNK)
    own = level.target + b * level.target_b + i * level.target_n
    given = tl.load(own + x, mask=x < counts.V, other=-float("inf"))
    to = copy.rows + b * copy.stride_b + tl.load(copy.places + i) * copy.stride_n
    tl.store(to + x, given, mask=x < counts.V)
    scale = LOG2_E / tl.load(level.temperature + 2 * b)
    row = given.to(tl.float32)
    maximum = tl.max(row, axis=0)
    shift = tl.where(maximum == -float("inf"), 0.0, maximum)
    tl.store(chunks.maxima + program, maximum)
    tl.store(chunks.sums + program, tl.sum(tl.exp2((row - shift) * scale), axis=0))


@triton.jit
def draw_children(
    level,
    chunks,  # of what the level's limits leave
    counts,
    drawn,
    K: tl.constexpr,
    REPLACEMENT: tl.constexpr,
    PLACES: tl.constexpr,
    C: tl.constexpr,
    CHUNKS: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """One program per (request, node). Nothing is drawn below a token that was not drawn, nor from a row
    that is not finite or whose support has run out.
    """
    n, V = counts.N, counts.V
    b, i = tl.program_id(0).to(tl.int64), tl.program_id(1)
    index, places = tl.arange(0, CHUNKS), tl.arange(0, PLACES)
    logits = level.target + b * level.target_b + i.to(tl.int64) * level.target_n
    uniforms = drawn.uniforms + b * drawn.N
    tokens = drawn.tokens + b * drawn.N
    mine = tl.load(drawn.own + i)
    there = tl.load(tokens + mine, mask=mine >= 0, other=0) < V

    at = (b * n + i) * C + index
    maximum = tl.load(chunks.maxima + at, mask=index < C, other=-float("inf"))
    highest = tl.max(maximum, axis=0)
    highest = tl.where(highest == -float("inf"), 0.0, highest)
    scale = LOG2_E / tl.load(level.temperature + 2 * b)
    masses = tl.load(chunks.sums + at, mask=index < C, other=0.0)
    masses *= tl.exp2((maximum - highest) * scale)
    total = tl.sum(masses, axis=0)
    fine = there & (total > 0) & (total < float("inf"))
    total = tl.where(fine, total, 1.0)
    masses = tl.where(fine & (masses > total * FAINT), masses / total, 0.0)
    norm = highest, 1 / total

    taken = tl.full([PLACES], -1, tl.int64)
    for k in range(K):
        place = tl.load(drawn.children + i * K + k)
        if place >= 0:
            u = below_one(tl.load(uniforms + place))
            chunk, u = choose(masses.to(tl.float64), u, index)
            x = chunk * CHUNK + tl.arange(0, CHUNK)
            row = law(logits, x, scale, norm, V, level.limits, b * n + i)
            if not REPLACEMENT:
                for j in range(k):
                    row = tl.where(x == tl.sum(tl.where(places == j, taken, 0), axis=0), 0.0, row)
            found, _ = choose(row.to(tl.float64), u, x)
            token = tl.where(tl.sum(masses, axis=0) > 0, found, V).to(tl.int64)
            tl.store(tokens + place, token)
            if not REPLACEMENT:
                taken = tl.where(places == k, token, taken)
                rest = tl.sum(tl.where(x == token, 0.0, row), axis=0)
                masses = tl.where(index == chunk, rest, masses)


def copied(
    sampling: Settings, logits: Tensor, rows: Tensor, places: Tensor
) -> tuple[Logits, Chunks, Counts, grid.Split]:
    """Reads logits [B, n, V] and copies them, filtered, to rows[:, places]; rows [B, I, V], places [n].
    Returns them as a target, with their limits and statistics, and how the work was divided.
    """
    B, n, V = logits.shape
    counts, split = Counts(n, 0, V), grid.Split.of(B * n, V, logits.device)
    maxima, sums = torch.empty(2, B, n, split.count, device=logits.device)
    chunks = Chunks(maxima, sums, sums, sums)  # the last two are not used
    temperature = heats(sampling, logits)
    level = Logits(logits, logits, temperature, None, *logits.stride()[:2] * 2)
    copy = Copy(rows, places, rows.stride(0), rows.stride(1))
    if sampling.only_temperature:
        parts = {"C": split.count, "CHUNK": split.size}
        grid.run(level_statistics, B * n * split.count)(
            level, copy, chunks, counts, **parts, num_warps=max(1, split.size // grid.SIZES.statistics)
        )
    else:
        level = statistics(sampling, level, chunks, counts, 0, split, copy)
    return level, chunks, counts, split


def filtered(sampling: Settings, logits: Tensor) -> Tensor:
    """As `sampling.filtered`, of logits [B, n, V] in float32, bfloat16 or float16, without a sort.

    The same tokens are kept up to rounding of the mass that top-p asks for, and the lowest id of equal ones.
    """
    logits = logits if logits.stride(-1) == 1 else logits.contiguous()
    rows = torch.empty_like(logits, memory_format=torch.contiguous_format)
    with torch.cuda.device_of(logits):  # Triton launches on the current device
        copied(sampling, logits, rows, torch.arange(logits.shape[1], device=logits.device))
    return rows


def draw_level(
    logits: Tensor,
    sampling: Sampling,
    uniforms: Tensor,
    own: Tensor,
    children: Tensor,
    tokens: Tensor,
    rows: Tensor,
    places: Tensor,
    replacement: bool,
) -> None:
    """Draws the children of a level's n nodes from their logits [B, n, V], filtered, into `tokens` [B, N],
    and copies the filtered logits to rows[:, places]; rows [B, I, V], places [n].

    uniforms [B, N]: float64 below 1, one for each drafted node; own [n]: the place of each node's own token,
    -1 for the root; children [n, K]: the places of its children's tokens in drawing order, then -1. V stands
    for a token that is not drawn: below such a token, of a row that is not finite, and where the support has
    run out. A token is the first whose cumulative probability exceeds the uniform number times the mass that
    is left, as in `verify.residual.draws`, up to rounding.
    """
    if not (sampling.only_temperature or kernels.searched(logits)):
        logits, sampling = sampling.filtered(logits), Sampling(temperature=sampling.heat)
    B, n, _ = logits.shape
    logits = logits if logits.stride(-1) == 1 else logits.contiguous()
    most, N = children.shape[1], tokens.shape[1]
    drawn = Uniforms(uniforms.contiguous(), own, children, tokens, N)
    with torch.cuda.device_of(logits):  # Triton launches on the current device
        *read, split = copied(sampling, logits, rows, places)
        grid.run(draw_children, B, n)(
            *read, drawn, K=most, REPLACEMENT=replacement, PLACES=grid.power(most), C=split.count,
            CHUNKS=grid.power(split.count), CHUNK=split.size,
            num_warps=max(1, split.size // grid.SIZES.draw),
        )  # fmt: skip
