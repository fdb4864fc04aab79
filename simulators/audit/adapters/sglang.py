"""SGLang: the Triton kernel of chain verification, by --path, run by Triton's interpreter: by
token, or by block; and the torch form of `BlockwiseRejection`.

Version: 0.5.23, `sglang/kernels/ops/speculative/reject_sampling.py`, and earlier ones with the same
signature, block verification wherever `block_verification` is a parameter; needs torch and triton, and
nothing of SGLang itself.
Signature: (predicts, accept_index, accept_token_num, candidates, retrive_index, retrive_next_token,
retrive_next_sibling, uniform_samples, uniform_samples_for_final_sampling, target_probs, draft_probs,
threshold_single, threshold_acc, deterministic).
Checked: the law of one request; the kernel's two arrays of float32 coins are followed through it exactly.
Not checked: the compiled kernel, batches, trees, thresholds below 1.

`sglang-blockwise`: 0.5.23, `blockwise_rejection_torch(candidates, target_logits, draft_logits,
target_temperatures, draft_temperatures, noise)` of
`sglang/kernels/ops/speculative/dspark/blockwise_rejection.py`, which the file calls a reference with the same
math as its kernels; returns (number of accepted tokens, next token, number cut). Checked: the law of one
request over all seeds. Not checked: its kernels, the budget.
"""

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.simulators.audit.adapters import kernels
from draftproof.simulators.audit.adapters.engine_code import TorchChain, function_of
from draftproof.theory.errors import BadInput


def made(path: Path | None, name: str, **options: bool) -> TorchChain:
    """The kernel of the file at `path`, called with the options."""
    kernels.interpreted()
    function = "chain_speculative_sampling_triton"
    sampling = function_of(path, "sglang", function)
    missing = options.keys() - inspect.signature(sampling).parameters.keys()
    if missing:
        raise BadInput(f"{path}: {function} has no parameter {', '.join(missing)}")
    import torch

    def verify(target: Any, draft: Any, tokens: Any) -> Any:
        depth = len(tokens)
        uniforms = torch.rand(1, depth)
        last = torch.rand(1)
        predicts = torch.full((depth + 1,), -1, dtype=torch.int32)
        accepted_at = torch.full((1, depth + 1), -1, dtype=torch.int32)
        accepted = torch.zeros(1, dtype=torch.int32)
        candidates = torch.cat([torch.zeros(1, dtype=tokens.dtype), tokens])[None]
        index = torch.arange(depth + 1)[None]
        rows = target[None].contiguous(), draft[None].contiguous()
        places = predicts, accepted_at, accepted, candidates, index, index, index
        sampling(*places, uniforms, last, *rows, 1.0, 1.0, True, **options)
        return predicts[: int(accepted[0]) + 1]

    return TorchChain(verify, name=f"{name} {function}", slow=True)


def blockwise(path: Path | None) -> TorchChain:
    """The torch form of blockwise rejection in the file at `path`."""
    kernels.interpreted()
    import torch

    given = {"msgspec": {"Struct": _Struct}}
    sample = function_of(path, "sglang", "blockwise_rejection_torch", given)

    def verify(target_logits: Any, draft_logits: Any, tokens: Any) -> Any:
        one, key = torch.ones(1), int(torch.randint(2**62, (1,)))
        kept, last, _ = sample(
            candidates=torch.cat([torch.zeros(1, dtype=tokens.dtype), tokens])[None],
            target_logits=target_logits,
            draft_logits=draft_logits[None],
            target_temperatures=one,
            draft_temperatures=one,
            noise=SimpleNamespace(key=key, counter=torch.zeros(1, dtype=torch.int64)),
        )
        return torch.cat([tokens[: int(kept[0])], last])

    return TorchChain(verify, name="sglang-blockwise blockwise_rejection_torch", logits=True, slow=True)


class _Struct:
    def __init_subclass__(cls, **_: Any) -> None: ...


TARGETS = {
    "sglang": lambda path: made(path, "sglang"),
    "sglang-blockwise": blockwise,
    "sglang-block": lambda path: made(path, "sglang-block", block_verification=True),
}
