"""The methods that are timed: the kernels, plain torch, and the verifiers of other packages.

A call is the whole step from logits. For packages that take probabilities, the softmax of both sides is part
of the measured time. docs/kernels.md lists the supported releases; with another release the note says why the
call failed.
"""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import TypeAlias

import torch
from torch import Tensor

from draftproof.gpu import kernels
from draftproof.gpu.bench.cases import Case
from draftproof.gpu.verify import from_logits

Call: TypeAlias = Callable[[], object]
Maker: TypeAlias = Callable[[Case], Call]
OURS = {
    "chain": ("token", "block", "greedy-block"),
    "tree": ("rrs", "traversal"),
    "tree+": ("specinfer", "traversal", "priority", "lifted-priority"),
    "strata": ("priority", "lifted-priority"),
}
"""This project's verifiers that are timed, by draft."""


def methods(draft: str, B: int, device: torch.device) -> Iterator[tuple[str, Maker]]:
    """(name, function that makes the call) of each method that applies; ratios are to the first one.

    The kernels are timed only when compiled: times in Triton's interpreter mean nothing.
    """
    gpu = device.type == "cuda"
    kinds = {"kernels": kernels.verify} if gpu and kernels.AVAILABLE else {}
    for kind, verify in (kinds | {"torch": from_logits}).items():
        yield from ((f"{name} {kind}", partial(partial, verify, name)) for name in OURS[draft])
    if draft == "chain" and B == 1:
        yield "transformers token", transformers
    if draft == "chain" and gpu:
        yield "FlashInfer token", flashinfer
        yield "SGLang token", sglang
        yield "SGLang block", partial(sglang, block=True)
        yield "vLLM token", vllm
        yield "vLLM block", partial(vllm, block=True)


def transformers(case: Case) -> Call:
    """Token verification of one request; draws its own noise. Returns (ids [1, accepted + 1], accepted)."""
    sample = import_module("transformers.generation.utils")._speculative_sampling
    settings = {"is_done_candidate": False, "last_assistant_token_is_eos": False, "max_matches": case.gamma}
    taken = inspect.signature(sample).parameters
    extra = {key: value for key, value in settings.items() if key in taken}
    target, proposal = case.target.float(), case.q.float()
    return lambda: sample(case.tokens, proposal, case.gamma, target, **extra)


def flashinfer(case: Case) -> Call:
    """Token verification. It draws noise from a seed, since its default generator cannot be captured.
    Returns (ids [B, gamma + 1] padded with -1, number of tokens whose own test succeeds [B], accepted [B]).
    """
    sample = import_module("flashinfer.sampling").chain_speculative_sampling
    tokens = case.tokens.int()
    return lambda: sample(_rows(case.q), tokens, _rows(case.target), seed=0, offset=0)


def sglang(case: Case, block: bool = False) -> Call:
    """Token or block verification with the case's noise. Returns (accepted [B], ids [B, gamma + 1]); ids
    after the extra token are undefined.
    """
    module = import_module("sglang.kernels.ops.speculative.reject_sampling")
    sample = module.chain_speculative_sampling_triton
    B, N = case.B, case.tree.size
    candidates = _after_first(case.tokens)
    index = torch.arange(B * N, device=candidates.device).reshape(B, N)
    predicts = torch.zeros(B * N, dtype=torch.int32, device=candidates.device)
    accepted = torch.full((B, N), -1, dtype=torch.int32, device=candidates.device)
    count = torch.zeros(B, dtype=torch.int32, device=candidates.device)
    rule = _block(sample, "block_verification") if block else {}

    def call() -> object:
        sample(
            predicts, accepted, count, candidates, index, index, index, case.coins, case.extra,
            _rows(case.target), _rows(case.q), 1.0, 1.0, True, **rule,
        )  # fmt: skip
        return count, predicts.view(B, N)

    return call


def vllm(case: Case, block: bool = False) -> Call:
    """Token or block verification of vLLM's second model runner, from logits; draws its own noise.
    Returns (ids [B, gamma + 1], accepted + 1 [B]); ids after the extra token are undefined.
    """
    sample = import_module("vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils").rejection_sample
    B, N, device = case.B, case.tree.size, case.target.device
    target, drafted = case.target.reshape(B * N, case.V), _after_first(case.tokens).flatten()
    request = torch.arange(B, dtype=torch.int32, device=device)
    step = torch.arange(N, dtype=torch.int32, device=device).repeat(B)
    given = {
        "cu_num_logits": N * torch.arange(B + 1, dtype=torch.int32, device=device),
        "pos": step.long(),
        "idx_mapping": request,
        "expanded_idx_mapping": request.repeat_interleave(N),
        "expanded_local_pos": step,
        "temperature": torch.ones(B, device=device),
        "seed": torch.arange(B, device=device),
        "num_speculative_steps": case.gamma,
        **(_block(sample, "use_block_verification") if block else {}),
    }
    return lambda: sample(target, case.q, drafted, **given)


def _block(sample: Callable[..., object], switch: str) -> dict[str, bool]:
    if switch not in inspect.signature(sample).parameters:
        raise NotImplementedError("this release has no block verification")
    return {switch: True}


def _rows(logits: Tensor) -> Tensor:
    return logits.float().softmax(-1)


def _after_first(tokens: Tensor) -> Tensor:
    # Other packages expect the token before the draft as the first candidate; none uses its value.
    return torch.cat((torch.zeros_like(tokens[:, :1]), tokens), 1)
