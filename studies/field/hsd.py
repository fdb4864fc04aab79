"""ZhouYuxuanYX/Hierarchical-Speculative-Decoding: `_speculative_sampling`, whose `backward=True` selects HSD.

The file mixes tabs and spaces and cannot be imported. Not run: several drafts, `blockwise`, its loop.
"""

import torch
from clones import clone
from engines import TorchChain, functions

FILE = clone("ZhouYuxuanYX/Hierarchical-Speculative-Decoding", "transformers/generation/utils.py")
NAME = "_speculative_sampling"
sampling = functions(FILE, (NAME,), {"torch": torch, "F": torch.nn.functional})[NAME]


def sampled(target_logits, draft_logits, tokens):
    given = tokens[None], draft_logits[None], len(tokens), target_logits[None], torch.tensor([False])
    return sampling(*given, backward=True, stop=lambda *_, **__: False)[0][0]


verify = TorchChain(sampled, name=f"hsd {NAME}(backward=True)", logits=True)
