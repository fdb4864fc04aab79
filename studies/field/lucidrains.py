"""lucidrains/speculative-decoding, whose models return logits and one tensor of keys and values."""

import math

import torch
from clones import clone
from engines import functions

FILE = clone("lucidrains/speculative-decoding", "speculative_decoding/speculative_decoding.py")


def rearrange(tensor, pattern):
    """einops' function for patterns that only add or drop dimensions of size 1."""
    if "..." in pattern:
        return tensor[..., None]
    before, after = (side.split() for side in pattern.split("->"))
    sizes = {name: size for name, size in zip(before, tensor.shape, strict=True) if name != "1"}
    return tensor.reshape([sizes.get(name, 1) for name in after])


names = {"torch": torch, "F": torch.nn.functional, "math": math, "rearrange": rearrange}
names |= {"Module": torch.nn.Module, "Tensor": torch.Tensor}
NAMES = ("log", "gumbel_noise", "gumbel_sample", "top_k", "safe_div", "find_first_true_index")
code = functions(FILE, (*NAMES, "speculative_decoding"), names)
speculative_decoding = code["speculative_decoding"]


class Net:
    def __init__(self, model):
        self.model = model

    def __call__(self, ids, cache=None, **_):
        kept = cache[0] if cache else None
        out = self.model(ids[:, kept.shape[-2] :] if cache else ids, ((kept, kept),) if cache else None)
        return out.logits, (out.past_key_values[0][0], None)


def generate(target, draft, prompt, length, gamma):
    text, _ = speculative_decoding(Net(target), Net(draft), prompt, 1 + length, gamma=gamma, filter_thres=0.0)
    return text[0]
