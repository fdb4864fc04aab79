"""vLLM: `rejection_sample` of both model runners, by --path, in Triton's interpreter.

Version: 0.11 to 0.33 of `vllm/v1/sample/rejection_sampler.py` (`vllm`), 0.21 to 0.33 of
`vllm/v1/worker/gpu/spec_decode/rejection_sampler_utils.py` (`vllm-v2`, `vllm-v2-block`). Parameters that
differ between releases are recognised by name; later additions keep their defaults. Needs torch and triton,
but not vLLM: the file's imports from vLLM are replaced, its kernel launcher (0.33) by one that passes
arguments by name. Signature: (draft_token_ids, num_draft_tokens, max_spec_len, cu_num_draft_tokens,
draft_probs, target_logits or target_probs, bonus_token_ids, sampling_metadata, ...); of the second runner
(target_logits, draft_logits, draft_sampled, cu_num_logits, pos, idx_mapping, expanded_idx_mapping,
expanded_local_pos, temperature, seed, num_speculative_steps, ..., use_block_verification), which returns
(sampled, num_sampled). Checked: the law of one request at temperature 1, by the unmodified kernels: the
recovered-token kernel with its exponential race, which is followed exactly and shared by all positions as in
the engine; the rejection kernel with its float64 uniforms; and the functions that draw for them. The second
runner's noise is keyed by (seed, position): the n-th coin of a key is drawn once and remembered
(`kernels.KeyedNoise`), so that repeated use of noise is modelled. If a coin is keyed by the draft position
only, a position that is verified, discarded and drafted again gets the same coin twice; --iterations 2 checks
this case. Not checked: the compiled kernels; batches, requests with their own generators, padding,
watermarks; temperature, top-k and top-p; drafts without probabilities; the generator's bits and their
transform into Gumbel noise; the greedy, FLy and synthetic branches. vLLM draws the first runner's bonus token
elsewhere, so this adapter draws it from the last row.
"""

import inspect
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from draftproof.simulators.audit.adapters import kernels
from draftproof.simulators.audit.adapters.engine_code import TorchChain, by_name, function_of, with_bonus
from draftproof.simulators.audit.coins.sources import Source
from draftproof.simulators.audit.rounding import SHIFT
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Prefix


def first_runner(path: Path | None = None) -> TorchChain:
    """The function of the file of the first model runner."""
    triton = kernels.interpreted()
    import torch

    given = {
        "vllm.triton_utils": {"triton": triton, "tl": triton.language},
        "vllm.model_executor.warmup.jit_warmup_triton_helper": {
            "triton_kernel_dispatcher_with_warmup": kernels.launched_by_name
        },
    }
    sample = function_of(path, "vllm", "rejection_sample", given)
    metadata = SimpleNamespace(
        all_greedy=False, all_random=True, temperature=torch.ones(1), generators={}, top_k=None, top_p=None
    )

    def verify(target: Any, draft: Any, tokens: Any) -> Any:
        depth, vocab = draft.shape
        known = {
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
        return with_bonus(by_name(sample, known)[0], target[-1])

    return TorchChain(verify, name="vllm rejection_sample", slow=True)


class Keyed(TorchChain):
    """A chain verifier whose kernels draw noise keyed by position."""

    noise: kernels.KeyedNoise

    def call(self, sandbox: Sandbox, source: Source, prepared: Any, position: int = 0) -> Prefix:
        self.noise.source = source
        return super().call(sandbox, source, prepared, position)


def second_runner(path: Path | None, name: str, *, block: bool) -> TorchChain:
    """Token or block verification of the file of the second model runner."""
    triton = kernels.interpreted()
    import torch

    noise = kernels.KeyedNoise(triton.language)
    language = {"triton": triton, "tl": triton.language, "tldevice": kernels.device_functions()}
    given = {"vllm.triton_utils": language, "vllm.v1.worker.gpu.sample.gumbel": noise.functions()}
    sample = function_of(path, "vllm", "rejection_sample", given)
    if block and "use_block_verification" not in inspect.signature(sample).parameters:
        raise BadInput(f"{path}: has no block verification")

    def verify(target: Any, draft: Any, tokens: Any, position: int = 0) -> Any:
        depth = len(tokens)
        known = {
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
        words, count = by_name(sample, known)
        return words[0, : int(count[0])]

    target = Keyed(verify, name=f"{name} rejection_sample", slow=True)
    target.noise = noise
    return target


TARGETS = {
    "vllm": first_runner,
    "vllm-v2": lambda path: second_runner(path, "vllm-v2", block=False),
    "vllm-v2-block": lambda path: second_runner(path, "vllm-v2-block", block=True),
}
