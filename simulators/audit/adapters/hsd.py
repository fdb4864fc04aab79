"""HSD: `_speculative_sampling` of the authors' `transformers/generation/utils.py`, by --path.

Version: the repository's main branch; its file mixes tabs and spaces and cannot be imported, so the
function's text is read with tabs as four spaces, otherwise unmodified.
Signature: transformers' own and `backward=True`, which selects HSD; returns (tokens, matches, path).
Checked: the law of one call on one draft. The leaf is accepted with the uncapped joint ratio:
expect it to be found lossy.
Not checked: several drafts, `blockwise`, the caches and stopping criteria around it.
"""

from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import functions
from draftproof.simulators.audit.adapters.torch_chain import TorchChain


def load(path: Path | None = None) -> TorchChain:
    """The function of the file at `path`."""
    import torch

    name = "_speculative_sampling"
    sampling = functions(path, (name,), {"torch": torch, "F": torch.nn.functional})[name]

    def verify(target_logits: Any, draft_logits: Any, tokens: Any) -> Any:
        ids, done = tokens[None], torch.tensor([False])
        valid, *_ = sampling(
            ids,
            draft_logits[None],
            len(tokens),
            target_logits[None],
            done,
            backward=True,
            stop=lambda *_, **__: False,
        )
        return valid[0]

    return TorchChain(verify, name="hsd _speculative_sampling(backward=True)", logits=True)


TARGETS = {"hsd": load}
