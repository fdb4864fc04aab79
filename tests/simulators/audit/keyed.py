"""Loops and functions whose generators are seeded with hashes of the text, as watermarks are."""

import hashlib

import numpy as np


def seeded(key, tokens):
    digest = hashlib.sha256(f"{key}:{tokens[-1:]}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def contexts(tokens):
    return {tuple(tokens[:n][-1:]) for n in range(len(tokens))}


def loop(verify, spare_discarded):
    """A loop that draws drafts by key A and the extra token by key B, repeated contexts freshly."""

    def generate(target, draft, prompt, length, gamma, rng):
        text, read = [], set()
        while len(text) < length:
            drafted, q, now = [], [], set()
            for _ in range(gamma):
                at = text + drafted
                fresh = tuple(at[-1:]) in contexts(at) | (read if spare_discarded else set())
                now.add(tuple(at[-1:]))
                q.append(row(draft, at))
                drafted.append(drawn(rng if fresh else seeded("A", at), q[-1]))
            read |= now
            p = [row(target, text + drafted[:n]) for n in range(gamma + 1)]
            kept, residual = verify(p, q, drafted, rng)
            text += drafted[:kept]
            text.append(drawn(rng if tuple(text[-1:]) in contexts(text) else seeded("B", text), residual))
        return text[:length]

    return generate


def row(model, tokens):
    return model.row(tokens).double().softmax(-1).numpy()


def drawn(rng, weights):
    return int(rng.choice(len(weights), p=weights / weights.sum()))


def by_token(p, q, drafted, rng):
    for i, x in enumerate(drafted):
        if not rng.random() < p[i][x] / q[i][x]:
            return i, np.maximum(p[i] - q[i], 0)
    return len(drafted), p[-1]


def by_block(p, q, drafted, rng):
    w = [1.0]
    for i, x in enumerate(drafted):
        w.append(min(1.0, w[-1] * p[i][x] / q[i][x]))
    if rng.random() < w[-1]:
        return len(drafted), p[-1]
    for i in reversed(range(len(drafted))):
        residual = np.maximum(w[i] * p[i] - q[i], 0)
        if i == 0 or rng.random() < residual.sum() / (residual.sum() + 1 - w[i]):
            return i, residual
    raise AssertionError


token, block, block_spared = loop(by_token, False), loop(by_block, False), loop(by_block, True)


def match(target_probs, draft_probs, draft_tokens, rng):
    """The target's own draws, which drafts may agree with."""
    words = []
    for p, x in zip(target_probs, [*draft_tokens, -1], strict=True):
        words.append(int(rng.choice(len(p), p=p)))
        if words[-1] != x:
            break
    return words


def race(target_probs, draft_probs, draft_tokens, rng):
    """The same with a race of exponentials."""
    words = []
    for p, x in zip(target_probs, [*draft_tokens, -1], strict=True):
        words.append(int(np.argmin(rng.exponential(size=len(p)) / np.maximum(p, 1e-300))))
        if words[-1] != x:
            break
    return words


def rejection(target_probs, draft_probs, draft_tokens, rng):
    kept, weights = by_token(target_probs, draft_probs, draft_tokens, rng)
    return [*draft_tokens[:kept], drawn(rng, weights)]


def early(target_probs, draft_probs, draft_tokens, rng):
    """Draws of the target, of which one is thrown away for every drafted token: it depends on the length."""
    rng.random(size=len(draft_tokens))
    return match(target_probs, draft_probs, draft_tokens, rng)


def matched(p, x, u):
    """What `match` makes of given numbers, filled up with -1."""
    words = []
    for i, row in enumerate(p):
        words.append(int(np.searchsorted(np.cumsum(row), u[i], side="right")))
        if i == len(x) or words[-1] != x[i]:
            break
    return words + [-1] * (len(p) - len(words))


def together(target_probs, draft_probs, draft_tokens, rng):
    """A batch, every request with its own numbers."""
    u = rng.random(target_probs.shape[:2])
    return np.array([matched(*each) for each in zip(target_probs, draft_tokens, u, strict=True)])


def streamed(target_probs, draft_probs, draft_tokens, rng):
    """A batch whose requests take numbers of one stream, as many as they need."""
    words = [match(*each, rng) for each in zip(target_probs, draft_probs, draft_tokens, strict=True)]
    return np.array([each + [-1] * (len(draft_probs[0]) + 1 - len(each)) for each in words])


def of_neighbours(target_probs, draft_probs, draft_tokens, rng):
    """A batch whose requests read the numbers of the request before where it drafted token 0 first."""
    u = rng.random(target_probs.shape[:2])
    u = np.stack([u[r - (draft_tokens[r - 1, 0] == 0)] for r in range(len(u))])
    return np.array([matched(*each) for each in zip(target_probs, draft_tokens, u, strict=True)])


def argmax_of_products(target_probs, draft_probs, draft_tokens, rng):
    """Gumbel-max by uniforms with the largest u p in place of the largest u^(1/p)."""
    words = []
    for p, x in zip(target_probs, [*draft_tokens, -1], strict=True):
        words.append(int(np.argmax(rng.random(len(p)) * p)))
        if words[-1] != x:
            break
    return words
