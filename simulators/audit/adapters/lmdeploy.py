"""LMDeploy: `rejection_sample` of `lmdeploy/pytorch/spec_decode/reject_sampler.py`, by --path.

Version: main branch as of August 2026. Needs torch and triton; the file's own imports from LMDeploy
are replaced.
Signature: rejection_sample(target_logits [batch, gamma, V], draft_token_ids, bonus_token_ids,
sampling_inputs, draft_probs); returns (tokens padded with -1, number rejected, last token).
Checked: the law of one request that samples, with its Triton kernels in the interpreter. The exponential race
for the recovered token is followed exactly; all positions share it, as in the engine.

Not checked: the compiled kernels, batches, the greedy branch, drafts without probabilities. The engine draws
the bonus token elsewhere, so this adapter draws it from the last row.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.simulators.audit.adapters import kernels
from draftproof.simulators.audit.adapters.engine_code import TorchChain, function_of, with_bonus
from draftproof.simulators.audit.rounding import SHIFT


def load(path: Path | None = None) -> TorchChain:
    """The function of the file at `path`."""
    kernels.interpreted()
    import torch

    sample = function_of(path, "lmdeploy", "rejection_sample")

    def verify(target: Any, draft: Any, tokens: Any) -> Any:
        vocab = draft.shape[1]
        inputs = SimpleNamespace(max_top_k=vocab, top_k=None)
        logits, bonus = target[:-1].log() + SHIFT, torch.full((1,), vocab)
        words, *_ = sample(logits[None], tokens[None], bonus, inputs, draft[None].contiguous())
        return with_bonus(words[0], target[-1])

    return TorchChain(verify, name="lmdeploy rejection_sample", slow=True)


TARGETS = {"lmdeploy": load}
