"""feifeibear/LLMSpeculativeSampling: `speculative_sampling`, without and with `random_seed`. `Shifted` leaves
the id 0 out, on which it raises; `whole` does not. The seed is drawn, so that the law is that over seeds.
"""

import torch
from clones import importable

importable("feifeibear/LLMSpeculativeSampling")
from sampling.speculative_sampling import speculative_sampling


class Shifted:
    def __init__(self, model):
        self.model, self.device = model, model.device

    def __call__(self, ids, **cache):
        out = self.model(torch.where(ids > 0, ids - 1, 0), **cache)
        out.logits = torch.nn.functional.pad(out.logits, (1, 0), value=float("-inf"))
        return out


def generate(target, draft, prompt, length, gamma, seed=None):
    drafter, verifier = Shifted(draft), Shifted(target)
    return speculative_sampling(prompt, drafter, verifier, length, gamma=gamma, random_seed=seed)[0, 1:] - 1


def seeded(target, draft, prompt, length, gamma):
    return generate(target, draft, prompt, length, gamma, seed=int(torch.randint(1, 2**31, ())))


def whole(target, draft, prompt, length, gamma):
    return speculative_sampling(prompt, draft, target, length, gamma=gamma)[0, 1:]
