"""vLLM: `rejection_sample` of `vllm/v1/sample/rejection_sampler.py`, by --path, in Triton's interpreter.

Version: 0.11 to 0.33; the parameters that came and went are recognised by name, those added since
are left at their defaults. Needs torch and triton, and nothing else of vLLM: the file's own imports
from vLLM are replaced, its kernel launcher (0.33) by one that passes arguments by name.
Signature: rejection_sample(draft_token_ids, num_draft_tokens, max_spec_len, cu_num_draft_tokens,
draft_probs, target_logits or target_probs, bonus_token_ids, sampling_metadata, ...).
Checked: the law of one request at temperature 1: the recovered-token kernel with its exponential
race, followed exactly and shared by all positions as in the engine, the rejection kernel with its
float64 uniforms, and the functions that draw for them.
Not checked: the compiled kernels; batches, requests with their own generators, padding; temperature,
top-k and top-p; drafts without probabilities; the greedy, FLy and synthetic branches. The bonus
token is the engine's own draw and is made here, from the last row.
"""

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.simulators.audit.adapters import kernels
from draftproof.simulators.audit.adapters.engine_code import executed, function_of
from draftproof.simulators.audit.adapters.torch_chain import TorchChain, with_bonus
from draftproof.simulators.audit.rounding import SHIFT


def load(path: Path | None = None) -> TorchChain:
    """The function of the file at `path`."""
    triton = kernels.interpreted()
    import torch

    given = {
        "vllm.triton_utils": {"triton": triton, "tl": triton.language},
        "vllm.model_executor.warmup.jit_warmup_triton_helper": {
            "triton_kernel_dispatcher_with_warmup": kernels.by_name
        },
    }
    sample = function_of(executed(path, "vllm", given), "rejection_sample")
    metadata = SimpleNamespace(
        all_greedy=False, all_random=True, temperature=torch.ones(1), generators={}, top_k=None, top_p=None
    )
    names = list(inspect.signature(sample).parameters)

    def verify(target: Any, draft: Any, tokens: Any) -> Any:
        depth, vocab = draft.shape
        rest = {
            "draft_token_ids": tokens.to(torch.int32),
            "num_draft_tokens": [depth],
            "max_spec_len": depth,
            "cu_num_draft_tokens": torch.tensor([depth], dtype=torch.int32),
            "draft_probs": draft,
            "target_logits": target[:-1].log() + SHIFT,
            "target_probs": target[:-1].contiguous(),
            "bonus_token_ids": torch.full((1, 1), vocab),
            "sampling_metadata": metadata,
        }
        words = sample(**{name: rest[name] for name in names if name in rest})
        return with_bonus(words[0], target[-1])

    return TorchChain(verify, name="vllm rejection_sample", slow=True)


TARGETS = {"vllm": load}
