"""hemingkx/SWIFT: `evaluate_posterior` on one drafted path, at temperatures 1 and 1/2."""

import random

import torch
from clones import clone
from engines import functions

FILE = clone("hemingkx/SWIFT", "model/swift/utils.py")
names = {"torch": torch, "random": random}
evaluate = functions(FILE, ("evaluate_posterior",), names)["evaluate_posterior"]


def plain(target_probs, draft_probs, draft_tokens, temperature=1.0):
    path = torch.cat([torch.zeros(1, dtype=draft_tokens.dtype), draft_tokens])[None]
    drawn = torch.cat([torch.ones(1), draft_probs.gather(1, draft_tokens[:, None])[:, 0]])[None]
    rows, none = [row[None] for row in draft_probs], [[[]] * path.shape[1]]
    _, count, row = evaluate(
        temperature * target_probs.log()[None],
        path,
        lambda ids, logits: logits / temperature,
        drawn.to(target_probs.dtype),
        rows,
        [[0] * path.shape[1]],
        path,
        none,
    )
    return torch.cat([draft_tokens[: int(count)], torch.multinomial(row, 1)])


def half(target_probs, draft_probs, draft_tokens):
    return plain(target_probs, draft_probs, draft_tokens, 0.5)
