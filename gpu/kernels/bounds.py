"""Bounds on a node's rate from a few tokens; rows are read again only if they leave its coin undecided.

A node with one child stops with the rate S / (S + 1 - a), S = sum (a p - q)+. With p and q known at some
tokens, S <= a - sum min(a p, q) and S >= sum (a p - q)+, both sums over those tokens alone.
"""

import triton
import triton.language as tl

from draftproof.gpu.kernels.common import LOG2_E, OCTET, PP, QQ, RATE, UNCAPPED, share

SLACK = tl.constexpr(1e-4)
LEAST = tl.constexpr(1e-6)
"""How far bounds on S are moved outwards, relative to S and absolutely: more than float32 rounding."""


@triton.jit
def fails(coin, rate, shared):
    """Whether a node's coin fails at every possible rate: `shared` is a part of sum min(a p, q)."""
    most = tl.maximum(rate - shared, 0.0) * (1 + SLACK) + LEAST
    return (rate < 1) & (coin >= share(most, most + (1 - rate)))


@triton.jit
def succeeds(coin, rate, kept, RULE: tl.constexpr):
    """Whether a node's coin succeeds at every possible rate: `kept` is a part of sum (a p - q)+."""
    least = tl.maximum(kept * (1 - SLACK) - LEAST, 0.0)
    sure = coin < share(least, least + (1 - rate))
    if RULE == UNCAPPED:
        sure = sure | (rate >= 1)
    return sure


@triton.jit
def settle(
    target,  # this pointer and the following ones point to this request's part
    proposal,
    temperature,
    places,
    normaliser,
    parents,
    rows,
    turn,
    ids,
    state,
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
    """Clears `due` for an only child if the bounds decide its parent's coin; lowers `stop` to the turn of a
    parent that is certainly accepted. The bounds use the tokens around each chunk's largest target logit.
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
            norm_p = tl.load(normaliser + f, mask=unsure, other=0.0)
            norm_q = tl.load(normaliser + N + row, mask=unsure, other=0.0)
            own = target + f.to(tl.int64)[:, None, None] * target_n + x
            p_logit = tl.load(own, mask=inside, other=-float("inf")).to(tl.float32)
            own = proposal + row.to(tl.int64)[:, None, None] * proposal_n + x
            q_logit = tl.load(own, mask=inside, other=-float("inf")).to(tl.float32)
            rate = tl.load(state + RATE * N + f, mask=unsure, other=0.0)
            coin = tl.load(noise + f, mask=unsure, other=0.0)

            a_p = rate[:, None, None] * tl.exp2(tl.fma(p_logit, scale, -norm_p[:, None, None]))
            q = tl.exp2(tl.fma(q_logit, scale, -norm_q[:, None, None]))
            shared = tl.sum(tl.sum(tl.minimum(a_p, q), axis=2), axis=1)
            kept = tl.sum(tl.sum(tl.maximum(a_p - q, 0.0), axis=2), axis=1)
            # Add the drafted token, unless it is among them.
            drafted = tl.load(ids + v, mask=unsure, other=0)
            seen = (chunks[None, :] == (drafted // CHUNK)[:, None]) & (group == (drafted // OCTET)[:, None])
            apart = tl.max(seen.to(tl.int32), axis=1) == 0
            a_p = rate * tl.load(state + PP * N + v, mask=unsure, other=0.0)
            q = tl.load(state + QQ * N + v, mask=unsure, other=0.0)
            shared += tl.where(apart, tl.minimum(a_p, q), 0.0)
            kept += tl.where(apart, tl.maximum(a_p - q, 0.0), 0.0)

            tl.store(due + v, tl.zeros_like(v), mask=unsure & fails(coin, rate, shared))
            sure = unsure & succeeds(coin, rate, kept, RULE)
            turns = tl.load(turn + f, mask=sure, other=N).to(tl.int32)
            tl.atomic_min(stop, tl.min(turns, axis=0), sem="relaxed")
