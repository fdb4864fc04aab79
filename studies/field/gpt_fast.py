"""meta-pytorch/gpt-fast: `generate` with a draft model, at commits before batches of prompts."""

from types import SimpleNamespace

import torch
from clones import importable

importable("meta-pytorch/gpt-fast", absent=("sentencepiece", "tiktoken", "tiktoken.load"))
import generate as code


class Net:  # what is written at a position replaces what was there
    config = SimpleNamespace(block_size=100)

    def __init__(self, model):
        self.model, self.ids = model, {}

    def setup_caches(self, max_seq_length, **_):
        self.max_seq_length = max_seq_length

    def __call__(self, *given):
        ids, positions = given[-2][0].tolist(), given[-1].tolist()
        self.ids.update(zip(positions, ids, strict=True))
        rows = [self.model.row([self.ids[i] for i in range(1, at + 1)]) for at in positions]
        return torch.stack(rows)[None]


def generate(target, draft, prompt, length, gamma, **more):
    text, _ = code.generate(
        Net(target),
        prompt[0],
        length,
        interactive=False,
        draft_model=Net(draft),
        speculate_k=gamma,
        temperature=1.0,
        **more,
    )
    return text.view(-1)[1:]
