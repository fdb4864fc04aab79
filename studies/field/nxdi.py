"""aws-neuron/neuronx-distributed-inference: token selection and sampling of EAGLE, whose drafts are greedy,
so that their rows are one-hot.
"""

import logging
from types import SimpleNamespace

import torch
from clones import clone
from engines import functions, method

FOLDER = clone("aws-neuron/neuronx-distributed-inference", "src/neuronx_distributed_inference")
MODEL, SAMPLING = FOLDER / "models/model_base.py", FOLDER / "modules/generation/sampling.py"
names = {"torch": torch, "rand_like": torch.rand_like, "logger": logging.getLogger("nxdi")}
functions(SAMPLING, ("cumsum",), names)
code = SimpleNamespace(config=SimpleNamespace(pad_token_id=-1), deterministic=False)
code.neuron_config = SimpleNamespace(on_cpu=True)


def bound(file, name):
    theirs = method(file, name, names)
    setattr(code, name, lambda *given: theirs(code, *given))


for each in ("_select_from", "_adjust_target_probs", "_speculative_mask", "_speculative_token_selection"):
    bound(MODEL, each)
for each in ("_rand_selector", "_multinomial"):
    bound(SAMPLING, each)


def verify(target_probs, draft_probs, draft_tokens):
    ids, count = draft_tokens[None], len(draft_tokens)
    p, ones = target_probs[None], torch.ones(1, count, dtype=target_probs.dtype)
    indices = torch.arange(p.shape[-1]).expand(p.shape)
    adjusted = code._adjust_target_probs(ones, ids, p, indices, count)
    samples = code._multinomial(adjusted, 2)[:, :, 0]
    words, index = code._speculative_token_selection(
        ids, samples, ids, ones, indices[:, :count], p[:, :count]
    )
    return words[0, : int(index) + 1]
