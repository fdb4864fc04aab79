"""Lightning-AI/litgpt: `speculative_decoding`. As a script: at temperature 0, or with top-p (`nucleus`)."""

import importlib
import sys
from typing import Any

import torch
from clones import Tokens, chain, clone, judge
from engines import functions

from draftproof.simulators import audit

FOLDER = clone("Lightning-AI/litgpt", "litgpt/generate")
importlib.import_module("torch._dynamo")  # its sampler asks for it; the import takes seconds
names = {"torch": torch, "F": torch.nn.functional, "Any": Any, "GPT": object}
functions(FOLDER / "base.py", ("multinomial_num_samples_1", "sample_top_p"), names)
code = functions(FOLDER / "speculative_decoding.py", ("sample", "speculative_decoding"), names)


class Net(Tokens):
    def __call__(self, idx, input_pos, input_pos_maxp1):
        return self.at(input_pos, idx[0])[None]


def generate(target, draft, prompt, length, gamma, **more):
    draft, target, text = Net(draft), Net(target), [*prompt[0].tolist()]
    while len(text) <= length:
        token, at = torch.tensor(text[-1:]), torch.tensor([len(text) - 1])
        text += code["speculative_decoding"](draft, target, token, at, len(text), gamma, **more).tolist()
    return text[1:]


def greedy(target, draft, prompt, length, gamma):
    """Logits (1, 0) and (0, 2) in place of the tables; at temperature 0 only token 0 is right."""
    target.row, draft.row = (lambda text, row=row: torch.tensor(row) for row in ([1.0, 0.0], [0.0, 2.0]))
    return generate(target, draft, prompt, length, gamma, temperature=0.0)


def nucleus(target, draft, prompt, length, gamma):
    return generate(target, draft, prompt, length, gamma, top_p=0.7)


if __name__ == "__main__":
    if sys.argv[1:] == ["nucleus"]:
        half = "1/2"
        judge(audit.Loop(nucleus), chain({(): [half, half, 0, 0, 0]}, {(): [0, half, half, 0, 0]}))
    judge(audit.Loop(greedy), chain({(): [1, 0]}, {(): [1, 0]}))
