"""NVIDIA/TensorRT-LLM: rejection and residual of its sampler, in torch without pinned memory."""

import typing

import torch
from clones import Unpinned, clone
from engines import functions

FILE = clone("NVIDIA/TensorRT-LLM", "tensorrt_llm/_torch/pyexecutor/sampling_utils.py")
generator = torch.Generator()  # one that is made in every call would draw the same numbers in every call
names = {"torch": Unpinned(), "cast": typing.cast}
code = functions(FILE, ("get_rejected_indices", "sample_rejected"), names)


def verify(target_probs, draft_probs, draft_tokens):
    rejected = code["get_rejected_indices"](draft_probs, target_probs, generator, draft_tokens.tolist())
    if len(rejected):
        n = int(rejected[0])
        return [*draft_tokens[:n].tolist(), code["sample_rejected"](draft_probs, target_probs, generator, n)]
    return [*draft_tokens.tolist(), int(torch.multinomial(target_probs[-1], 1, generator=generator))]
