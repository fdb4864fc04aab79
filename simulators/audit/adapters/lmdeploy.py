"""LMDeploy: the CUDA backend's `forward`, `lmdeploy/pytorch/backends/cuda/rejection_sampling.py`, by --path,
with its Triton kernels, which are read beside it from `lmdeploy/pytorch/kernels/cuda/rejection_sampling.py`.

Version: 0.18. Needs torch and triton; the files' own imports from LMDeploy are replaced.
Signature: forward(self, target_logits [batch, gamma, V], draft_token_ids, bonus_token_ids, is_greedy,
draft_probs); returns (tokens padded with -1, number rejected, last token).
Checked: the law of one request that samples, with its kernels in the interpreter. The exponential race for
the recovered token is followed exactly; all positions share it, as in the engine.

Not checked: the compiled kernels, batches, the greedy branch, drafts without probabilities. The engine draws
the bonus token elsewhere, so this adapter draws it from the last row.
"""

from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters import engine_code, kernels
from draftproof.simulators.audit.rounding import SHIFT

KERNELS = Path("kernels/cuda/rejection_sampling.py")
GIVEN = {"lmdeploy.pytorch.backends.rejection_sampling": {"PLACEHOLDER_TOKEN_ID": -1}}


def load(path: Path | None = None) -> engine_code.TorchChain:
    """The method of the file at `path`."""
    kernels.interpreted()
    import torch

    beside = None if path is None else path.resolve().parent.parent.parent / KERNELS
    launch = engine_code.function_of(beside, "lmdeploy", "random_rejection_sample", GIVEN)
    namespace = {**launch.__globals__, "torch": torch}
    engine_code.functions(path, ("_allocate_outputs",), namespace)
    sample = engine_code.method(path, "forward", namespace)

    def verify(target: Any, draft: Any, tokens: Any) -> Any:
        logits, bonus = target[:-1].log() + SHIFT, torch.full((1,), draft.shape[1])
        given = {"is_greedy": None, "draft_probs": draft[None].contiguous()}
        words, *_ = sample(None, logits[None], tokens[None], bonus, **given)
        return engine_code.with_bonus(words[0], target[-1])

    return engine_code.TorchChain(verify, name="lmdeploy forward", slow=True)


TARGETS = {"lmdeploy": load}
