"""Georgakopoulos-Soares-lab/BioSpecDec: `speculative_sampling` without filters. As a script: with top-k 1."""

import time

import torch
from clones import Padded, chain, clone, judge
from engines import functions

from draftproof.simulators import audit

FILE = clone("Georgakopoulos-Soares-lab/BioSpecDec", "specdec_progen2_truncated.py")
names = {"torch": torch, "F": torch.nn.functional, "time": time}
names["_model_input_device"] = lambda model: model.device
code = functions(FILE, ("top_k_top_p_filter", "speculative_sampling"), names)


def generate(target, draft, prompt, length, gamma, **more):
    target, draft = Padded(target, 0), Padded(draft, 0)
    return code["speculative_sampling"](target, draft, prompt, length, gamma, **more)[0][0, 1:]


def likeliest(target, draft, prompt, length, gamma):
    """Logarithms of (2/3, 1/3) and (1/3, 2/3) in place of the tables; only token 0 is allowed."""
    target.row = lambda text: torch.tensor([2.0, 1.0]).log()
    draft.row = lambda text: torch.tensor([1.0, 2.0]).log()
    return generate(target, draft, prompt, length, gamma, top_k=1)


if __name__ == "__main__":
    judge(audit.Loop(likeliest), chain({(): [1, 0]}, {(): [1, 0]}))
