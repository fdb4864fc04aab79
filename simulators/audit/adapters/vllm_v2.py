"""vLLM's second model runner: `rejection_sample` of `vllm/v1/worker/gpu/spec_decode/
rejection_sampler_utils.py`, by --path, in Triton's interpreter: token and block
verification.

Version: 0.21 to 0.33; parameters that came and went are recognised by name. Needs torch and triton;
the file's own imports from vLLM are replaced.
Signature: rejection_sample(target_logits, draft_logits, draft_sampled, cu_num_logits, pos,
idx_mapping, expanded_idx_mapping, expanded_local_pos, temperature, seed, num_speculative_steps, ...,
use_block_verification); returns (sampled, num_sampled).
Checked: the law of one request at temperature 1, by the kernels as they are. Their noise is keyed by
(seed, position): here the n-th coin of a key is drawn once and remembered (`kernels.KeyedNoise`), so that
noise used twice is seen as used twice. Where the coin of a draft position is keyed by the position
alone, one that was verified, discarded and drafted again meets it twice: --iterations 2.
Not checked: the compiled kernels; the generator's bits and its transform into Gumbel noise, which
are replaced by exact coins; batches, watermarks, the greedy, FLy and synthetic branches.
"""

import inspect
from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters import kernels
from draftproof.simulators.audit.adapters.engine_code import executed, function_of
from draftproof.simulators.audit.adapters.torch_chain import TorchChain
from draftproof.simulators.audit.randomness.sources import Source
from draftproof.simulators.audit.rounding import SHIFT
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Prefix


class Keyed(TorchChain):
    """A chain whose kernels draw noise that is keyed by position."""

    noise: kernels.KeyedNoise

    def call(self, sandbox: Sandbox, source: Source, prepared: Any, position: int = 0) -> Prefix:
        self.noise.source = source
        return super().call(sandbox, source, prepared, position)


def made(path: Path | None, name: str, *, block: bool) -> TorchChain:
    """Token or block verification of the file at `path`."""
    triton = kernels.interpreted()
    import torch

    noise = kernels.KeyedNoise(triton.language)
    language = {"triton": triton, "tl": triton.language, "tldevice": kernels.device_functions()}
    given = {"vllm.triton_utils": language, "vllm.v1.worker.gpu.sample.gumbel": noise.functions()}
    sample = function_of(executed(path, "vllm", given), "rejection_sample")
    names = inspect.signature(sample).parameters
    if block and "use_block_verification" not in names:
        raise BadInput(f"{path}: has no block verification")

    def verify(target: Any, draft: Any, tokens: Any, position: int = 0) -> Any:
        depth = len(tokens)
        rest = {
            "target_logits": target.log() + SHIFT,
            "draft_logits": draft.log()[None],
            "draft_sampled": torch.cat([torch.zeros(1, dtype=torch.int64), tokens]),
            "cu_num_logits": torch.tensor([0, depth + 1], dtype=torch.int32),
            "pos": position + torch.arange(depth + 1),
            "idx_mapping": torch.zeros(1, dtype=torch.int32),
            "expanded_idx_mapping": torch.zeros(depth + 1, dtype=torch.int32),
            "expanded_local_pos": torch.arange(depth + 1, dtype=torch.int32),
            "temperature": torch.ones(1),
            "seed": torch.zeros(1, dtype=torch.int64),
            "num_speculative_steps": depth,
            "use_block_verification": block,
        }
        words, count = sample(**{key: rest[key] for key in names if key in rest})
        return words[0, : int(count[0])]

    target = Keyed(verify, name=f"{name} rejection_sample", slow=True)
    target.noise = noise
    return target


TARGETS = {
    "vllm-v2": lambda path: made(path, "vllm-v2", block=False),
    "vllm-v2-block": lambda path: made(path, "vllm-v2-block", block=True),
}
