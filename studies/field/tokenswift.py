"""bigai-nlco/TokenSwift: `exactly_match_sampling` on one path, and on a tree of two leaves."""

import torch
from clones import importable

importable("bigai-nlco/TokenSwift")
from utils.medusa_utils import exactly_match_sampling


def path(target_probs, rooted_tokens, leaves=None):
    paths = rooted_tokens[None] if leaves is None else leaves
    found = exactly_match_sampling(paths, target_probs[: paths.shape[1]].expand(len(paths), -1, -1))
    return torch.cat([found["accept_tokens"][1:], found["resample_token"]])


def tree(target_probs, rooted_tokens):
    """The leaves are the ids 0 and 1, whatever was drafted; the first token is judged."""
    return path(target_probs, rooted_tokens, torch.tensor([[7, 0], [7, 1]]))[:1]
