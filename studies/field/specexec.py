"""yandex-research/specexec: SpecInfer's step on two children, drawn with and without replacement."""

import torch
from engines import theirs

step = theirs("yandex-research/specexec", "specdec/spec_SI.py").SpecInfer._inference_step


def replaced(target_probs, draft_probs, draft_tokens, count=2, replacement=True):
    children = torch.multinomial(draft_probs[0], count, replacement)
    return [step(target_probs[0], draft_probs[0], range(count), children)[1]]


def without(target_probs, draft_probs, draft_tokens):
    return replaced(target_probs, draft_probs, draft_tokens, min(2, int((draft_probs[0] > 0).sum())), False)
