"""sgl-project/sglang: the Triton kernel of chain verification in Triton's interpreter, by token or by block.

Version: 0.5.23, `sglang/kernels/ops/speculative/reject_sampling.py`, and earlier ones with the same
signature, block verification wherever `block_verification` is a parameter; needs torch and triton, and
nothing of SGLang itself.
Signature: (predicts, accept_index, accept_token_num, candidates, retrive_index, retrive_next_token,
retrive_next_sibling, uniform_samples, uniform_samples_for_final_sampling, target_probs, draft_probs,
threshold_single, threshold_acc, deterministic).
Checked: the law of one request; the kernel's two arrays of float32 coins are followed through it exactly.
Not checked: the compiled kernel, batches, trees, thresholds below 1.
"""

import inspect
from pathlib import Path

import torch
from clones import clone
from engines import TorchChain, function_of, interpreted

from draftproof.theory.errors import BadInput

FILE = "python/sglang/kernels/ops/speculative/reject_sampling.py"


def made(path: Path, name: str, **options: bool) -> TorchChain:
    """The kernel of the file at `path`, called with the options."""
    interpreted()
    function = "chain_speculative_sampling_triton"
    sampling = function_of(path, "sglang", function)
    missing = options.keys() - inspect.signature(sampling).parameters.keys()
    if missing:
        raise BadInput(f"{path}: {function} has no parameter {', '.join(missing)}")

    def verify(target, draft, tokens):
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

    return TorchChain(verify, name=f"sglang {function}, {name}", slow=True)


def __getattr__(name: str) -> TorchChain:
    # Made where it is asked for: older releases have no block verification.
    if name not in ("token", "block"):
        raise AttributeError(name)
    options = {"block_verification": True} if name == "block" else {}
    return made(clone("sgl-project/sglang", FILE), name, **options)
