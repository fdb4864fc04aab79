"""Pass 1: the softmax statistics of every row, one program a chunk of the vocabulary."""

import triton
import triton.language as tl

from draftproof.gpu.kernels.fields import OCTET

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def law(row, x, scale, normaliser, V):
    """The probabilities 2^(scale logit - normaliser) of the ids x, the power rounded once; 0 beyond V."""
    logits = tl.load(row + x, mask=x < V, other=-float("inf")).to(tl.float32)
    return tl.exp2(tl.fma(logits, scale, -normaliser))


@triton.jit(do_not_specialize=["N", "I", "placed"])
def chunk_statistics(
    target,  # [B, N, V] logits
    proposal,  # [B, I, V] logits, of the same type
    temperature,  # [B]
    maxima,  # [B, N + I, C] out: the largest logit of each chunk, over the temperature, as a power of 2
    sums,  # [B, N + I, C] out: sum of exp(logit / temperature), over 2^maximum
    places,  # [B, placed, C] out: which octet of the target's row holds the largest logit of each chunk
    target_b,
    target_n,
    proposal_b,
    proposal_n,
    N,
    I,
    V,
    placed,  # N, or 0 where nobody asks for places
    C: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """Reads each logit once. Chunks are combined where they are used, so no program waits for another."""
    program = tl.program_id(0)
    line = program // C
    b = (line // (N + I)).to(tl.int64)
    row = line % (N + I)
    scale = LOG2_E / tl.load(temperature + b)
    of_target = target + b * target_b + row.to(tl.int64) * target_n
    of_proposal = proposal + b * proposal_b + (row - N).to(tl.int64) * proposal_n
    x = program % C * CHUNK + tl.arange(0, CHUNK)
    at = tl.where(row < N, of_target, of_proposal)  # one way through: a branch would double the code
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
