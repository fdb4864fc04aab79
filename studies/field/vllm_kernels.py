"""vllm-project/vllm: `rejection_sample` of both model runners, in Triton's interpreter.

Version: 0.11 to 0.33 of `vllm/v1/sample/rejection_sampler.py` (`first`), 0.21 to 0.33 of
`vllm/v1/worker/gpu/spec_decode/rejection_sampler_utils.py` (`second`, `block`). Parameters that
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
(`KeyedNoise`), so that repeated use of noise is modelled. If a coin is keyed by the draft position
only, a position that is verified, discarded and drafted again gets the same coin twice; --iterations 2 checks
this case. Not checked: the compiled kernels; batches, requests with their own generators, padding,
watermarks; temperature, top-k and top-p; drafts without probabilities; the generator's bits and their
transform into Gumbel noise; the greedy, FLy and synthetic branches. vLLM draws the first runner's bonus token
elsewhere, so this adapter draws it from the last row.
"""

import inspect
from collections.abc import Callable, Hashable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from clones import clone
from engines import TorchChain, by_name, function_of, interpreted, with_bonus

from draftproof.simulators.audit.coins.coin import Coin
from draftproof.simulators.audit.coins.lazy import Lazy
from draftproof.simulators.audit.coins.sources import Source
from draftproof.simulators.audit.rounding import SHIFT
from draftproof.simulators.audit.sandbox import Sandbox
from draftproof.simulators.audit.stand_ins.generators import gumbel
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Prefix

FIRST, SECOND = "sample/rejection_sampler.py", "worker/gpu/spec_decode/rejection_sampler_utils.py"
"""The files of the two model runners."""

SMALLEST = 2.0**-31  # the smallest uniform that kernels with keyed noise use; a smaller one is raised to it


def first_runner(path: Path) -> TorchChain:
    """The function of the file of the first model runner."""
    triton = interpreted()
    given = {
        "vllm.triton_utils": {"triton": triton, "tl": triton.language},
        "vllm.model_executor.warmup.jit_warmup_triton_helper": {
            "triton_kernel_dispatcher_with_warmup": launched_by_name
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


class KeyedNoise:
    """Stand-ins for the device functions that draw noise by key (seed, position); `source` gives the coins.

    Every key has one coin, drawn once and remembered, so that repeated use gives the same noise.
    """

    source: Source

    def __init__(self, language: Any):
        self.language = language

    def functions(self) -> dict[str, Any]:
        """The functions by their names in `vllm.v1.worker.gpu.sample.gumbel`."""
        return {
            "tl_rand32": self.uniform,
            "tl_rand64": self.uniform,
            "gumbel_block_argmax": self.argmax,
            "spec_step_seed": lambda seed, step: _int(seed) ^ (_int(step) << 32),
        }

    def uniform(self, seed: Any, position: Any, includes_zero: bool = True, **_: Any) -> Any:
        """One uniform per key."""
        coin = self._remembered(("u", _int(seed), _int(position)), lambda: self.source.uniform(np.float32))
        if not includes_zero:
            coin = coin.capped(SMALLEST, True) if isinstance(coin, Lazy) else max(coin, np.float32(SMALLEST))
        return self._tensor([coin], ())

    def argmax(
        self,
        logits: Any,
        block: Any,
        mask: Any,
        row: Any,
        requests_ptr: Any,
        temperature_ptr: Any,
        seeds_ptr: Any,
        position_ptr: Any,
        *_: Any,
        **__: Any,
    ) -> Any:
        """(maximum, its index) of the logits plus Gumbel noise, one per key and token."""
        tl = self.language
        seed = _int(tl.load(seeds_ptr + tl.load(requests_ptr + row)))
        position = _int(tl.load(position_ptr + row))
        values: list[Any] = []
        for x, token, inside in zip(
            logits.handle.data.tolist(), block.handle.data.tolist(), mask.handle.data.tolist(), strict=True
        ):
            if not inside or x == -np.inf:
                values.append(-np.inf)
                continue
            key = ("G", seed, position, token)
            values.append(x + self._remembered(key, lambda: gumbel(self.source, np.float32)))
        return tl.max(self._tensor(values, (len(values),)), axis=0, return_indices=True)

    def _remembered(self, key: tuple[Hashable, ...], draw: Callable[[], Any]) -> Any:
        if key not in self.source.keyed:
            self.source.keyed[key] = draw()
        return self.source.keyed[key]

    def _tensor(self, values: list[Any], shape: tuple[int, ...]) -> Any:
        from triton.runtime.interpreter import TensorHandle

        tl, array = self.language, np.empty(len(values), dtype=object)
        array[:] = values
        if not any(isinstance(value, Coin) for value in values):
            array = array.astype(np.float32)
        kind = tl.block_type(tl.float32, list(shape)) if shape else tl.float32
        return tl.core.tensor(TensorHandle(array, tl.float32), kind)


class Keyed(TorchChain):
    """A chain verifier whose kernels draw noise keyed by position."""

    noise: KeyedNoise

    def call(self, sandbox: Sandbox, source: Source, prepared: Any, position: int = 0) -> Prefix:
        self.noise.source = source
        return super().call(sandbox, source, prepared, position)


def second_runner(path: Path, block: bool) -> TorchChain:
    """Token or block verification of the file of the second model runner."""
    triton = interpreted()
    noise = KeyedNoise(triton.language)
    language = {"triton": triton, "tl": triton.language, "tldevice": device_functions()}
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

    target = Keyed(verify, name=f"vllm second runner{', block' * block}", slow=True)
    target.noise = noise
    return target


def device_functions() -> Any:
    """A stand-in for `triton.language.extra.libdevice`, which the interpreter does not support."""
    import triton.language as tl
    from triton.runtime.interpreter import TensorHandle

    def log1p(x: Any) -> Any:
        with np.errstate(all="ignore"):
            values = np.log1p(x.handle.data)
        return tl.core.tensor(TensorHandle(values, x.handle.dtype), x.type)

    return SimpleNamespace(log1p=log1p)


def launched_by_name(*, kernel: Any, **_: Any) -> Callable[[Any], Any]:
    """A decorator of functions that return (grid, constants): launches the kernel with arguments by name.

    The arguments are the function's own, whose names lack the kernel's suffix `_ptr` of pointers.
    """

    def decorate(dispatch: Any) -> Any:
        signature = inspect.signature(dispatch)

        def launch(*args: Any, **kwargs: Any) -> None:
            inputs = signature.bind(*args, **kwargs).arguments
            grid, constants = dispatch(**inputs)[:2]
            given = {**{f"{name}_ptr": value for name, value in inputs.items()}, **inputs, **constants}
            kernel[grid](**{name: given[name] for name in kernel.arg_names})

        return launch

    return decorate


def _int(scalar: Any) -> int:
    return int(np.ravel(scalar.handle.data)[0]) if hasattr(scalar, "handle") else int(scalar)


def __getattr__(name: str) -> TorchChain:
    # Made where it is asked for: each reads a file of its own.
    folder = clone("vllm-project/vllm", "vllm/v1") if name in ("first", "second", "block") else Path()
    if name == "first":
        return first_runner(folder / FIRST)
    if name in ("second", "block"):
        return second_runner(folder / SECOND, name == "block")
    raise AttributeError(name)
