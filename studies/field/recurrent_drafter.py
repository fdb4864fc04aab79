"""apple/ml-recurrent-drafter: choice and correction of one drafted path that is drawn, or found as its beam
search finds it."""

import torch
from engines import theirs

code = theirs("apple/ml-recurrent-drafter", "recurrent_drafting/recurrent_drafting.py")


def drawn(target_probs, draft_probs, rooted_tokens):
    p, q = target_probs.log()[None, None], draft_probs.log()[None, None]
    count, beam = code._choose_from_candidates(rooted_tokens[None, None], p, q)
    return count, code._prepare_next_input(q, p, torch.zeros(1, 1, p.shape[2], 1), beam, count)[1]


def searched(target_probs, draft_probs, rooted_tokens):
    best = draft_probs[:1].argmax(-1)
    kept, token = drawn(target_probs[:2], draft_probs[:1], torch.cat([rooted_tokens[:1], best]))
    return best if kept else token
