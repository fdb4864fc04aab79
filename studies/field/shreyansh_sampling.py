"""shreyansh26/Speculative-Sampling: `speculative_sampling`."""

import torch
from clones import Padded, clone
from engines import functions

FOLDER = clone("shreyansh26/Speculative-Sampling")
names = {"torch": torch, "F": torch.nn.functional}
functions(FOLDER / "utils.py", ("get_distribution", "sample", "sample_from_draft_model"), names)
code = functions(FOLDER / "speculative_sampling.py", ("speculative_sampling",), names)


def generate(target, draft, prompt, length, gamma):
    target, draft = Padded(target, 0), Padded(draft, 0)
    text = code["speculative_sampling"](target, draft, prompt, length + 1, None, gamma, debug=False)
    return text[0, 1:]
