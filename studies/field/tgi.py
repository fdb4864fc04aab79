"""huggingface/text-generation-inference: `HeterogeneousNextTokenChooser` with speculated ids."""

import torch
from clones import clone
from engines import function_of

FILE = clone("huggingface/text-generation-inference", "server/text_generation_server/utils/tokens.py")
Chooser = function_of(FILE, "text_generation_server", "HeterogeneousNextTokenChooser")


ones, zeros = [1.0], [0]
chooser = Chooser(
    torch.float32,
    torch.device("cpu"),
    [False],
    ones,
    ones,
    [0.0],
    zeros,
    ones,
    ones,
    [True],
    zeros,
    None,
    [""],
    zeros,
    zeros,
)


def verify(target_probs, draft_probs, draft_tokens):
    return chooser(draft_tokens[None, :0], target_probs.log(), 0, draft_tokens[None])[0]
