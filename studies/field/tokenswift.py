"""bigai-nlco/TokenSwift: `exactly_match_sampling` on one path, and on a tree of two leaves."""

import torch
from clones import importable

importable("bigai-nlco/TokenSwift")
from utils.medusa_utils import exactly_match_sampling


def path(target_probs, rooted_tokens):
    return matched(target_probs[None], rooted_tokens[None])


def tree(target_probs, rooted_tokens):
    """The leaves are the ids 0 and 1, whatever was drafted; the first token is judged."""
    return matched(target_probs[:2].expand(2, 2, -1), torch.tensor([[7, 0], [7, 1]]))[:1]


def matched(rows, paths):
    found = exactly_match_sampling(paths, rows)
    return torch.cat([found["accept_tokens"][1:], found["resample_token"]])
