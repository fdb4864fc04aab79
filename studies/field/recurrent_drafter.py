"""apple/ml-recurrent-drafter: choice and correction of one drafted path that is drawn, or found as its beam
search finds it."""

import torch
from clones import clone
from engines import functions

FILE = clone("apple/ml-recurrent-drafter", "recurrent_drafting/recurrent_drafting.py")
names = {"torch": torch, "dist": torch.distributions, "Tuple": tuple}
NAMES = ("_select_one_per_row", "_choose_from_candidates", "_prepare_next_input")
code = functions(FILE, NAMES, names)


def drawn(target_probs, draft_probs, draft_tokens):
    beams = torch.cat([torch.zeros(1, dtype=torch.int64), draft_tokens])[None, None]
    p, q = target_probs.log()[None, None], draft_probs.log()[None, None]
    count, beam = code["_choose_from_candidates"](beams, p, q)
    hidden = torch.zeros(1, 1, beams.shape[-1], 1)
    _, token = code["_prepare_next_input"](q, p, hidden, beam, count)
    return torch.cat([draft_tokens[: int(count)], token])


def searched(target_probs, draft_probs, draft_tokens):
    return drawn(target_probs[:2], draft_probs[:1], draft_probs[:1].argmax(-1))[:1]
