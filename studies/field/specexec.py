"""yandex-research/specexec: SpecInfer's step on two children, drawn with and without replacement."""

import torch
from clones import clone
from engines import method

FILE = clone("yandex-research/specexec", "specdec/spec_SI.py")
step = method(FILE, "_inference_step", {"torch": torch, "Tuple": tuple})


def without(target_probs, draft_probs, draft_tokens):
    count = min(2, int((draft_probs[0] > 0).sum()))
    children = torch.multinomial(draft_probs[0], count)
    return [int(step(target_probs[0], draft_probs[0], range(count), children)[1])]


def replaced(target_probs, draft_probs, draft_tokens):
    children = torch.multinomial(draft_probs[0], 2, replacement=True)
    return [int(step(target_probs[0], draft_probs[0], range(2), children)[1])]
