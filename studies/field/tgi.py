"""huggingface/text-generation-inference: `HeterogeneousNextTokenChooser` with speculated ids."""

import torch
from engines import theirs

code = theirs("huggingface/text-generation-inference", "server/text_generation_server/utils/tokens.py")
ones, zeros = [1.0], [0]
settings = [False], ones, ones, [0.0], zeros, ones, ones, [True], zeros, None, [""], zeros, zeros
chooser = code.HeterogeneousNextTokenChooser(torch.float32, torch.device("cpu"), *settings)


def verify(target_probs, draft_probs, draft_tokens):
    return chooser(draft_tokens[None, :0], target_probs.log(), 0, draft_tokens[None])[0]
