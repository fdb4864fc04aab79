"""vllm-ascend: the PyTorch functions of `vllm_ascend/sample/rejection_sampler.py`, by --path: token and
block verification.

Version: late 2025 to August 2026; later flags keep their defaults. Block verification recovers
tokens with the prefix weight (`sample_recovered_tokens_blockwise_pytorch`) or, in earlier files, without.
Signature: `sample_recovered_tokens_pytorch(output, cu_num_draft_tokens, draft_token_ids, draft_probs,
target_probs, q, vocab_size, ...)`, then `rejection_random_sample_pytorch(output, cu_num_draft_tokens,
draft_token_ids, draft_probs, target_probs, bonus_token_ids, recovered, uniforms, is_greedy, ...)` or
`rejection_random_sample_block_verify_pytorch` with the same arguments.
Checked: the law of one request of one batch, with float32 uniforms and one exponential race per request,
shared by its positions as in the engine. The bonus token is drawn from the last row. The block version
compares products of ratios with products of uniforms, which is not block verification: expect it to be found
lossy. Not checked: the kernels for the accelerator, batches, reduced sampling, n-gram drafts.
"""

from functools import partial
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import TorchChain, by_name, functions, with_bonus

BY_TOKEN = ("sample_recovered_tokens_pytorch", "rejection_random_sample_pytorch")
BY_BLOCK = (
    "sample_recovered_tokens_pytorch",
    "sample_recovered_tokens_blockwise_pytorch",
    "rejection_random_sample_block_verify_pytorch",
)


def made(path: Path | None, names: tuple[str, ...], name: str) -> TorchChain:
    """A target of the last two functions of `names` that the file has: (recover, verify)."""
    import torch

    space = functions(path, names, {"torch": Unpinned(torch), "PLACEHOLDER_TOKEN_ID": -1})
    recover, verify = [space[each] for each in names if each in space][-2:]

    def call(target: Any, draft: Any, tokens: Any) -> Any:
        depth, vocab = draft.shape
        uniforms = torch.rand(depth, dtype=torch.float32)
        race = torch.empty(1, vocab, dtype=torch.float32).exponential_()
        bonus = torch.full((1, 1), vocab)
        out = torch.full((1, depth + 1), -1, dtype=torch.int64)
        recovered = torch.empty(depth, dtype=torch.int64)
        ends = torch.tensor([depth])
        recover(recovered, ends, tokens, draft, target[:-1].contiguous(), race, vocab)
        greedy = torch.zeros(1, dtype=torch.bool)
        given = out, ends, tokens, draft, target[:-1], bonus, recovered, uniforms, greedy
        known = {"max_spec_len": depth, "vocab_size": vocab, "num_draft_tokens_per_req": [depth]}
        by_name(partial(verify, *given), known)
        return with_bonus(out[0], target[-1])

    return TorchChain(call, name=f"{name} {verify.__name__}")


class Unpinned:
    """torch without pinned memory, which needs an accelerator."""

    def __init__(self, torch: Any):
        self._torch = torch

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._torch, name)
        if name not in ("tensor", "arange", "ones", "zeros", "full", "empty"):
            return found
        return lambda *a, **k: found(*a, **{key: value for key, value in k.items() if key != "pin_memory"})


TARGETS = {
    "vllm-ascend": lambda path: made(path, BY_TOKEN, "vllm-ascend"),
    "vllm-ascend-block": lambda path: made(path, BY_BLOCK, "vllm-ascend-block"),
}
