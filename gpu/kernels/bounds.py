"""What a few tokens say of a node's coin, so that rows are read again only where it stays open.

S = sum (a p - q)+ decides at which rate a node with one child stops, S / (S + 1 - a). With p and q known at
some tokens, S <= a - sum min(a p, q) and S >= sum (a p - q)+ over those alone.
"""

import triton
import triton.language as tl

from draftproof.gpu.kernels.fields import OCTET, PP, QQ, RATE, UNCAPPED
from draftproof.gpu.kernels.statistics import LOG2_E

SLACK = tl.constexpr(1e-4)  # of S, and
LEAST = tl.constexpr(1e-6)  # of 1, beyond float32 rounding


@triton.jit
def share(part, whole):
    """min(1, part / whole), but 0 where the part is 0."""
    ratio = tl.where(part < whole, part / tl.where(whole > 0, whole, 1.0), 1.0)
    return tl.where(part > 0, ratio, 0.0)


@triton.jit
def hopeless(coin, rate, shared):
    """Whether a node's coin fails in any case: `shared` is a part of sum min(a p, q)."""
    most = tl.maximum(rate - shared, 0.0) * (1 + SLACK) + LEAST
    return (rate < 1) & (coin >= share(most, most + (1 - rate)))


@triton.jit
def certain(coin, rate, kept, RULE: tl.constexpr):
    """Whether it succeeds in any case: `kept` is a part of sum (a p - q)+."""
    least = tl.maximum(kept * (1 - SLACK) - LEAST, 0.0)
    sure = coin < share(least, least + (1 - rate))
    if RULE == UNCAPPED:
        sure = sure | (rate >= 1)
    return sure


@triton.jit
def settle(
    target,  # from here on, what belongs to this request
    proposal,
    temperature,
    places,
    normaliser,
    parents,
    rows,
    turn,
    ids,
    numbers,
    noise,
    due,
    stop,
    parent_of,
    token_of,
    target_n,
    proposal_n,
    N,
    V,
    C: tl.constexpr,
    RULE: tl.constexpr,
    NODES: tl.constexpr,
    CHUNKS: tl.constexpr,
    CHUNK: tl.constexpr,
    AT_ONCE: tl.constexpr,
):
    """Takes back what is due of only children whose parents' coins the tokens around each chunk's largest
    target logit decide, and notes the parents that are accepted for certain.
    """
    scale = LOG2_E / tl.load(temperature)
    chunks = tl.arange(0, CHUNKS)
    for start in range(0, N, AT_ONCE):
        v = start + tl.arange(0, AT_ONCE)
        f = tl.load(parents + v, mask=(v > 0) & (v < N), other=0).to(tl.int32)
        unsure = (f > 0) & (tl.load(due + v, mask=v < N, other=0) > 0)
        siblings = (parent_of[None, :] == f[:, None]) & (token_of >= 0)[None, :]
        unsure = unsure & (tl.sum(siblings.to(tl.int32), axis=1) == 1)
        if tl.max(unsure.to(tl.int32), axis=0) > 0:
            row = tl.load(rows + f, mask=unsure, other=0).to(tl.int32)
            at = (unsure[:, None]) & (chunks < C)[None, :]
            group = tl.load(places + f[:, None] * C + chunks[None, :], mask=at, other=0)
            x = group[:, :, None] * OCTET + tl.arange(0, OCTET)[None, None, :]
            inside = at[:, :, None] & (x < V)
            of_p = tl.load(normaliser + f, mask=unsure, other=0.0)
            of_q = tl.load(normaliser + N + row, mask=unsure, other=0.0)
            own = target + f.to(tl.int64)[:, None, None] * target_n + x
            p_logit = tl.load(own, mask=inside, other=-float("inf")).to(tl.float32)
            own = proposal + row.to(tl.int64)[:, None, None] * proposal_n + x
            q_logit = tl.load(own, mask=inside, other=-float("inf")).to(tl.float32)
            rate = tl.load(numbers + RATE * N + f, mask=unsure, other=0.0)
            coin = tl.load(noise + f, mask=unsure, other=0.0)

            a_p = rate[:, None, None] * tl.exp2(tl.fma(p_logit, scale, -of_p[:, None, None]))
            q = tl.exp2(tl.fma(q_logit, scale, -of_q[:, None, None]))
            shared = tl.sum(tl.sum(tl.minimum(a_p, q), axis=2), axis=1)
            kept = tl.sum(tl.sum(tl.maximum(a_p - q, 0.0), axis=2), axis=1)
            # The drafted token too, where it is not among them.
            drafted = tl.load(ids + v, mask=unsure, other=0)
            seen = (chunks[None, :] == (drafted // CHUNK)[:, None]) & (group == (drafted // OCTET)[:, None])
            apart = tl.max(seen.to(tl.int32), axis=1) == 0
            a_p = rate * tl.load(numbers + PP * N + v, mask=unsure, other=0.0)
            q = tl.load(numbers + QQ * N + v, mask=unsure, other=0.0)
            shared += tl.where(apart, tl.minimum(a_p, q), 0.0)
            kept += tl.where(apart, tl.maximum(a_p - q, 0.0), 0.0)

            tl.store(due + v, tl.zeros_like(v), mask=unsure & hopeless(coin, rate, shared))
            sure = unsure & certain(coin, rate, kept, RULE)
            turns = tl.load(turn + f, mask=sure, other=N).to(tl.int32)
            tl.atomic_min(stop, tl.min(turns, axis=0), sem="relaxed")
