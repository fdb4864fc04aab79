"""FasterDecoding/Medusa: `evaluate_posterior` on one path; the token after it is drawn as its
`generate_candidates` does.
"""

import torch
from clones import clone
from engines import functions

names = ("evaluate_posterior", "get_nucleus_posterior_mask", "get_typical_posterior_mask")
names += ("get_nucleus_one_token", "get_typical_one_token")
space = {"torch": torch, "F": torch.nn.functional}
code = functions(clone("FasterDecoding/Medusa", "medusa/model/utils.py"), names, space)


def nucleus(target_probs, draft_probs, draft_tokens):
    logits = target_probs.log()[None]
    candidates = torch.cat([torch.zeros(1, dtype=draft_tokens.dtype), draft_tokens])[None]
    choice = {"sampling": "nucleus", "top_p": 1.0, "fast": False}
    _, accepted = code["evaluate_posterior"](logits.clone(), candidates, 1.0, **choice)
    row = logits[:, int(accepted)].clone()
    return torch.cat([draft_tokens[: int(accepted)], code["get_nucleus_one_token"](row, 1.0, 1.0).view(-1)])


def typical(target_probs, draft_probs, draft_tokens):
    """The fast form, which accepts by a threshold; the last token is drawn from its row."""
    candidates = torch.cat([torch.zeros(1, dtype=draft_tokens.dtype), draft_tokens])[None]
    choice = {"sampling": "typical", "fast": True}
    _, accepted = code["evaluate_posterior"](target_probs.log()[None], candidates, 1.0, **choice)
    return torch.cat([draft_tokens[: int(accepted)], torch.multinomial(target_probs[int(accepted)], 1)])
