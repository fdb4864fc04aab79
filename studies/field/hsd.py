"""ZhouYuxuanYX/Hierarchical-Speculative-Decoding: `_speculative_sampling` of its transformers, one chain.

The file mixes tabs and spaces and cannot be imported, so the function's text is read with tabs as four
spaces, otherwise unmodified. `backward=True` selects HSD, which accepts the leaf with the uncapped joint
ratio. Not run: the loop around it, several drafts, `blockwise`.
"""

import torch
from clones import clone

from draftproof.simulators.audit.adapters.engine_code import TorchChain, functions

FILE = clone("ZhouYuxuanYX/Hierarchical-Speculative-Decoding", "transformers/generation/utils.py")
NAME = "_speculative_sampling"
sampling = functions(FILE, (NAME,), {"torch": torch, "F": torch.nn.functional})[NAME]


def released(target_logits, draft_logits, tokens):
    given = tokens[None], draft_logits[None], len(tokens), target_logits[None], torch.tensor([False])
    return sampling(*given, backward=True, stop=lambda *_, **__: False)[0][0]


verify = TorchChain(released, name=f"hsd {NAME}(backward=True)", logits=True)
