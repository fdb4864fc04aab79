"""Peers, as their own packages bring them: each made ready to verify one case, and then called.

A call is the whole step from logits. Peers that take probabilities get a softmax of each side first, which is
part of their time. docs/kernels.md says which releases fit; another one says why it does not run.
"""

import inspect
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import TypeAlias

import torch
from torch import Tensor

from draftproof.gpu.kernel_bench.case import Case

Call: TypeAlias = Callable[[], object]


def transformers(case: Case) -> Call:
    """Token verification of one request; draws its own noise. Gives (ids [1, accepted + 1], accepted)."""
    sample = import_module("transformers.generation.utils")._speculative_sampling
    settled = {"is_done_candidate": False, "last_assistant_token_is_eos": False, "max_matches": case.gamma}
    extra = {key: settled[key] for key in inspect.signature(sample).parameters if key in settled}
    target, proposal = case.target.float(), case.q.float()
    return lambda: sample(case.tokens, proposal, case.gamma, target, **extra)


def flashinfer(case: Case) -> Call:
    """Token verification; draws its own noise, from a seed, since its default generator cannot be captured.

    Gives (ids [B, gamma + 1] padded with -1, tokens that pass on their own [B], accepted [B]).
    """
    sample = import_module("flashinfer.sampling").chain_speculative_sampling
    tokens = case.tokens.int()
    return lambda: sample(_rows(case.q), tokens, _rows(case.target), seed=0, offset=0)


def sglang(case: Case, block: bool = False) -> Call:
    """Token or block verification with the case's noise. Gives (accepted [B], ids [B, gamma + 1] up to the
    extra token, anything behind it).
    """
    try:
        module = import_module("sglang.kernels.ops.speculative.reject_sampling")
    except ModuleNotFoundError:  # where releases before 0.5.16 have it
        module = import_module("sglang.srt.speculative.reject_sampling")
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


def vllm(case: Case) -> Call:
    """Token verification of vLLM's first model runner, requests without seeds; the bonus token is drawn
    outside, as its sampler does. Gives ids [B, gamma + 1] padded with -1.
    """
    sample = import_module("vllm.v1.sample.rejection_sampler").rejection_sample
    takes_logits = "target_logits" in inspect.signature(sample).parameters
    device, gamma = case.target.device, case.gamma
    ends = gamma * torch.arange(1, case.B + 1, dtype=torch.int32, device=device)
    tokens = case.tokens.flatten().int()
    ones = torch.ones(case.B, device=device)
    metadata = SimpleNamespace(all_greedy=False, all_random=True, temperature=ones, generators={})

    def call() -> object:
        target = case.target[:, :-1].reshape(-1, case.V)
        last = _rows(case.target[:, -1])
        bonus = (last / torch.empty_like(last).exponential_()).argmax(-1, keepdim=True).int()
        target = target.float() if takes_logits else _rows(target)
        proposal = _rows(case.q).reshape(-1, case.V)
        return sample(tokens, [gamma] * case.B, gamma, ends, proposal, target, bonus, metadata)

    return call


def vllm_runner(case: Case, block: bool = False) -> Call:
    """Token or block verification of vLLM's second model runner, from logits; draws its own noise.

    Gives (ids [B, gamma + 1] up to the extra token, accepted + 1 [B]).
    """
    sample = import_module("vllm.v1.worker.gpu.spec_decode.rejection_sampler_utils").rejection_sample
    B, N, device = case.B, case.tree.size, case.target.device
    target, drafted = case.target.reshape(B * N, case.V), _after_first(case.tokens).flatten()
    request = torch.arange(B, dtype=torch.int32, device=device)
    step = torch.arange(N, dtype=torch.int32, device=device).repeat(B)
    rule = _block(sample, "use_block_verification") if block else {}
    given = {
        "cu_num_logits": N * torch.arange(B + 1, dtype=torch.int32, device=device),
        "pos": step.long(),
        "idx_mapping": request,
        "expanded_idx_mapping": request.repeat_interleave(N),
        "expanded_local_pos": step,
        "temperature": torch.ones(B, device=device),
        "seed": torch.arange(B, device=device),
        "num_speculative_steps": case.gamma,
        **rule,
    }
    return lambda: sample(target, case.q, drafted, **given)


def _block(sample: Callable[..., object], switch: str) -> dict[str, bool]:
    if switch not in inspect.signature(sample).parameters:
        raise NotImplementedError("this release has no block verification")
    return {switch: True}


def _rows(logits: Tensor) -> Tensor:
    return logits.float().softmax(-1)


def _after_first(tokens: Tensor) -> Tensor:
    # The token that was there before the draft comes first; no rule looks at it.
    return torch.cat((torch.zeros_like(tokens[:, :1]), tokens), 1)
