"""Pass 1: the softmax statistics of every row, by chunks of the vocabulary, and how chunks are combined."""

import triton
import triton.language as tl

from draftproof.gpu.kernels.common import LOG2_E, OCTET


@triton.jit(do_not_specialize=["N", "I", "placed"])
def chunk_statistics(
    target,  # [B, N, V] logits
    proposal,  # [B, I, V] logits, of the same type
    temperature,  # [B]
    maxima,  # [B, N + I, C] out: the largest logit / temperature of each chunk, as an exponent of 2
    sums,  # [B, N + I, C] out: sum of exp(logit / temperature), divided by 2^maximum
    places,  # [B, placed, C] out: which octet of the target's row holds the largest logit of each chunk
    target_b, target_n, proposal_b, proposal_n, N, I, V,
    placed,  # N, or 0 if no rate is bounded by places
    C: tl.constexpr,
    CHUNK: tl.constexpr,
):  # fmt: skip
    """One program a chunk; reads each logit once. `normalise` combines the chunks in the next kernel, so that
    no program waits for another.
    """
    program = tl.program_id(0)
    line = program // C
    b = (line // (N + I)).to(tl.int64)
    row = line % (N + I)
    scale = LOG2_E / tl.load(temperature + b)
    of_target = target + b * target_b + row.to(tl.int64) * target_n
    of_proposal = proposal + b * proposal_b + (row - N).to(tl.int64) * proposal_n
    x = program % C * CHUNK + tl.arange(0, CHUNK)
    at = tl.where(row < N, of_target, of_proposal)  # a branch would double the code
    logits = tl.load(at + x, mask=x < V, other=-float("inf")).to(tl.float32)
    groups = tl.max(tl.reshape(logits, [CHUNK // OCTET, OCTET]), axis=1)
    largest = tl.max(groups, axis=0)
    maximum = largest * scale
    shift = tl.where(maximum == -float("inf"), 0.0, maximum)
    tl.store(maxima + program, maximum)
    tl.store(sums + program, tl.sum(tl.exp2(tl.fma(logits, scale, -shift)), axis=0))
    if row < placed:
        index = tl.arange(0, CHUNK // OCTET)
        group = program % C * (CHUNK // OCTET) + tl.max(tl.where(groups == largest, index, 0), axis=0)
        tl.store(places + (b * placed + row) * C + program % C, group)


@triton.jit
def normalise(maxima, sums, normaliser, rows, C, ROWS: tl.constexpr, CHUNKS: tl.constexpr):
    """log2 sum exp of each row, inf if it has none; the sums become the chunks' probability masses."""
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
