"""Bugs that real verifiers had, as foreign functions; the last few are lossy by design."""

import numpy as np

from tests.mutants.controls import block_law, chain, drawn, residual, settled, token_function, weights
from tests.mutants.registry import mutant


@mutant("tau = last i whose product of ratios is above the product of uniforms", row="1")
def block_by_products(p, q, x, rng):
    n = np.arange(len(x))
    passed = np.cumprod(p[n, x] / q[n, x]) >= np.cumprod(rng.random(len(x)))
    tau = int(np.flatnonzero(passed)[-1]) + 1 if passed.any() else 0
    w = weights(p, q, x)[tau]
    return [*x[:tau], drawn(residual(w * p[tau], q[tau]) if tau < len(x) else p[tau], rng)]


@mutant("block rule, residual (p - q)+ not scaled by w", row="2")
def block_with_a_plain_residual(p, q, x, rng):
    h, _ = block_law(p, q, x, weights(p, q, x))
    tau = max(i for i, u in enumerate(rng.random(len(h))) if i == 0 or u < h[i])
    return [*x[:tau], drawn(residual(p[tau], q[tau]) if tau < len(x) else p[tau], rng)]


@mutant("block rule with q = 1 in the ratio, the rejected token left in the residual", row="3")
def block_without_draft_probabilities(p, q, x, rng):
    w = np.cumprod(p[np.arange(len(x)), x])
    tau = max([i + 1 for i, u in enumerate(rng.random(len(x))) if u < w[i]], default=0)
    return [*x[:tau], drawn(p[tau], rng)]


@mutant("after a rejection the token is drawn from p", row="4")
def residual_from_the_target(p, q, x, rng):
    for i, t in enumerate(x):
        if not rng.random() < p[i, t] / q[i, t]:
            return [*x[:i], drawn(p[i], rng)]
    return [*x, drawn(p[-1], rng)]


@mutant("the count of matches counts everything", row="5")
def counts_everything(p, q, x, rng):
    n = np.arange(len(x))
    rejected = rng.random(len(x)) >= p[n, x] / q[n, x]
    return [*x[: int((np.cumsum(rejected) >= 0).sum())], drawn(p[-1], rng)]


@mutant("the target's likeliest token is accepted without a coin", row="6")
def same_token_bypass(p, q, x, rng):
    return chain(p, q, x, rng, lambda i, t: t == p[i].argmax() or rng.random() < p[i, t] / q[i, t])


@mutant("logits row off by one", row="8")
def target_row_late(p, q, x, rng):
    return token_function(np.concatenate([p[:1], p[:-1]]), q, x, rng)


@mutant("target without its temperature", row="11")
def target_without_temperature(p, q, x, rng):
    hot = np.sqrt(p)
    return token_function(hot / hot.sum(axis=1, keepdims=True), q, x, rng)


@mutant("draft rows not reordered with the batch", row="13")
def draft_rows_of_another_request(p, q, x, rng):
    batch = np.stack([q, q[:, ::-1]])[[1, 0]]  # two requests, swapped; the rows should have been too
    return token_function(p, np.maximum(batch[0], 1e-30), x, rng)


@mutant("softmax of what are probabilities already", row="15")
def softmax_twice(p, q, x, rng):
    soft = np.exp(p)
    return token_function(soft / soft.sum(axis=1, keepdims=True), q, x, rng)


@mutant("one uniform for all positions", row="18")
def one_coin_for_all(p, q, x, rng):
    u = rng.random()
    return chain(p, q, x, rng, lambda i, t: u < p[i, t] / q[i, t])


@mutant("a coin of 0 meets <= and accepts a token of probability zero", row="19", expected="finding")
def accepts_at_zero(p, q, x, rng):
    return chain(p, q, x, rng, lambda i, t: rng.random() <= p[i, t] / q[i, t])


@mutant("a coin next to 1 runs past the last bucket", row="19", expected="finding", dtype="float32")
def runs_past_the_end(p, q, x, rng):
    kept, row = settled(p, q, x, lambda i, t: rng.random() < p[i, t] / q[i, t])
    cdf = np.cumsum((row / row.sum()).astype(np.float32)) * np.float32(1 - 2.0**-23)
    return [*kept, int(np.searchsorted(cdf, rng.random(dtype=np.float32), side="right"))]


@mutant(
    "a drafted id of -1 is looked up from the end and accepted", row="20", expected="finding", padding=True
)
def accepts_padding(p, q, x, rng):
    return token_function(p, q, x, rng)


@mutant("rows of NaN become an id outside the vocabulary", row="21", expected="finding")
def nan_leaves_the_vocabulary(p, q, x, rng):
    for i, t in enumerate(x):
        if not rng.random() < p[i, t] / q[i, t]:
            row = np.maximum(p[i] - q[i], 0.0)
            break
    else:
        i, row = len(x), p[-1]
    u = rng.random() * row.sum()
    below = [y for y, edge in enumerate(np.cumsum(row)) if u < edge]
    return [*x[:i], below[0] if below else len(row)]


@mutant("a drafted token's own probability decides whether it is verified", row="29")
def stops_at_unlikely_drafts(p, q, x, rng):
    for i, t in enumerate(x):
        if q[i, t] < 0.4:
            return [*x[:i], drawn(p[i], rng)]
        if not rng.random() < p[i, t] / q[i, t]:
            return [*x[:i], drawn(residual(p[i], q[i]), rng)]
    return [*x, drawn(p[-1], rng)]


@mutant("lossy by design: whatever p finds likely enough is accepted")
def threshold(p, q, x, rng):
    return chain(p, q, x, rng, lambda i, t: p[i, t] >= 0.5 or rng.random() < p[i, t] / q[i, t])


@mutant("lossy by design: an ensemble of target and draft is what is verified")
def ensemble(p, q, x, rng):
    mixed = np.concatenate([0.8 * p[:-1] + 0.2 * q, p[-1:]])
    return token_function(mixed, q, x, rng)


@mutant("lossy by design: acceptance relaxed by the target's entropy")
def relaxed_by_entropy(p, q, x, rng):
    entropy = [-(row[row > 0] * np.log(row[row > 0])).sum() for row in p]
    return chain(p, q, x, rng, lambda i, t: rng.random() < (1 + entropy[i] / 4) * p[i, t] / q[i, t])


@mutant("lossy by design: a given rate of acceptance, whatever was drafted")
def synthetic_rate(p, q, x, rng):
    return chain(p, q, x, rng, lambda i, t: rng.random() < 0.7)


@mutant("acceptance short of the ratio by one part in 10^9")
def short_by_a_billionth(p, q, x, rng):
    return chain(p, q, x, rng, lambda i, t: rng.random() < p[i, t] / q[i, t] - 1e-9)
