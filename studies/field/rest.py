"""FasterDecoding/REST: `evaluate_posterior` on one retrieved path, with a top-p that cuts nothing."""

import torch
from clones import clone
from engines import functions

FILE = clone("FasterDecoding/REST", "rest/model/utils.py")
NAMES = ("evaluate_posterior", "get_nucleus_posterior_mask")
code = functions(FILE, NAMES, {"torch": torch, "F": torch.nn.functional})
TOP_P = 1 - 2**-24


def verify(target_probs, draft_probs, draft_tokens):
    candidates = torch.cat([torch.zeros(1, dtype=draft_tokens.dtype), draft_tokens])[None]
    _, accepted = code["evaluate_posterior"](target_probs.log()[None], candidates, 1.0, TOP_P)
    count = int(accepted)  # the next token is drawn from its row in the same way, by its next call
    return torch.cat([draft_tokens[:count], torch.multinomial(target_probs[count], 1)])
