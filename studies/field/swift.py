"""hemingkx/SWIFT: `evaluate_posterior` on one drafted path, at temperatures 1 and 1/2."""

import torch
from engines import theirs

code = theirs("hemingkx/SWIFT", "model/swift/utils.py")


def plain(target_probs, draft_probs, rooted_tokens, temperature=1.0):
    logits, path = temperature * target_probs.log()[None], rooted_tokens[None]
    drawn = torch.nn.functional.pad(draft_probs.gather(1, path[:, 1:].T).T, (1, 0), value=1.0)
    rows, zeros, none = [row[None] for row in draft_probs], [[0] * path.shape[1]], [[[]] * path.shape[1]]
    given = path, lambda _, logits: logits / temperature, drawn, rows, zeros, path, none
    return code.evaluate_posterior(logits, *given)[1:]


def half(target_probs, draft_probs, rooted_tokens):
    return plain(target_probs, draft_probs, rooted_tokens, 0.5)
