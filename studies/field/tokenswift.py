"""bigai-nlco/TokenSwift: `exactly_match_sampling` on one path, and on a tree of two leaves."""

import random

import torch
from clones import clone
from engines import functions

names = {"torch": torch, "random": random, "F": torch.nn.functional}
functions(clone("bigai-nlco/TokenSwift", "utils/sampling.py"), ("sample",), names)
FILE = clone("bigai-nlco/TokenSwift", "utils/medusa_utils.py")
match = functions(FILE, ("exactly_match_sampling",), names)["exactly_match_sampling"]


def path(target_probs, draft_probs, draft_tokens):
    candidates = torch.cat([torch.zeros(1, dtype=draft_tokens.dtype), draft_tokens])[None]
    found = match(candidates, target_probs[None])
    return torch.cat([found["accept_tokens"][1:], found["resample_token"]])


def tree(target_probs, draft_probs, draft_tokens):
    """The leaves are the ids 0 and 1, whatever was drafted; the first token is judged."""
    leaves = torch.tensor([[7, 0], [7, 1]])
    found = match(leaves, torch.stack([target_probs[:2], target_probs[:2]]))
    return torch.cat([found["accept_tokens"][1:], found["resample_token"]])[:1]
