"""jayeshthk/SpS-SpecDec: the rounds of `speculative_sample`, with a draft model that samples or is greedy."""

import torch
from clones import importable

importable("jayeshthk/SpS-SpecDec")
from specdec.sampler import generate_speculative_tokens, validate_tokens


class Drafter:
    def __init__(self, model, sampled):
        self.model, self.sampled = model, sampled

    def generate(self, ids, max_length):
        while ids.shape[1] < max_length:
            row = self.model(ids).logits[:, -1].softmax(-1)
            token = torch.multinomial(row, 1) if self.sampled else row.argmax(-1, keepdim=True)
            ids = torch.cat([ids, token], dim=-1)
        return ids


def generate(target, draft, prompt, length, gamma, sampled=True):
    ids = prompt
    while ids.shape[1] <= length:
        tokens = generate_speculative_tokens(Drafter(draft, sampled), ids, gamma)
        ids = torch.cat([ids, validate_tokens(target, ids, tokens)[None]], dim=-1)
    return ids[0, 1:]


def greedy(target, draft, prompt, length, gamma):
    return generate(target, draft, prompt, length, gamma, sampled=False)
