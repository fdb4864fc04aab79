"""SGLang: the Triton kernel of chain verification, by --path, run by Triton's interpreter.

Version: `chain_speculative_sampling_triton` as of 2026; needs triton, and nothing of SGLang itself.
Signature: (predicts, accept_index, accept_token_num, candidates, retrive_index, retrive_next_token,
retrive_next_sibling, uniform_samples, uniform_samples_for_final_sampling, target_probs, draft_probs,
threshold_single, threshold_acc, deterministic).
Checked: the law of one request, the kernel's two arrays of coins read by bisection. Slow, as the
interpreter is: use --vocab 2 --depth 1, of which five scenarios are audited.
Not checked: the compiled kernel, batches, trees, thresholds below 1.
"""

import importlib.util
import os
from pathlib import Path
from typing import Any

from simulators.audit.adapters.torch_chain import TorchChain
from theory.errors import BadInput

NAME = "sglang"
ABOUT = "chain_speculative_sampling_triton of SGLang's kernels (--path), under TRITON_INTERPRET=1"


def load(path: Path | None = None) -> TorchChain:
    """The kernel of the file at `path`."""
    os.environ["TRITON_INTERPRET"] = "1"
    sampling = imported(path, "chain_speculative_sampling_triton")
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
        sampling(
            predicts,
            accepted_at,
            accepted,
            candidates,
            index,
            index,
            index,
            uniforms,
            last,
            *rows,
            1.0,
            1.0,
            True,
        )
        return predicts[: int(accepted[0]) + 1]

    target = TorchChain(verify, name="sglang chain_speculative_sampling_triton")
    target.slow = True
    return target


def imported(path: Path | None, name: str) -> Any:
    """A function of a file that is imported as it is; BadInput when that cannot be."""
    if path is None or not path.is_file():
        raise BadInput(f"{path}: this adapter needs --path, the file that has {name}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return getattr(module, name)
    except Exception as error:
        raise BadInput(f"{path}: {type(error).__name__}: {error}") from None
