"""Who is measured: the kernels, plain torch, and peers as their own packages bring them.

Every method does the whole step from logits. Peers that take probabilities get a softmax of each side first,
which is part of their time; all of them do token verification only.
"""

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import TypeAlias

import torch

from gpu import kernels
from gpu.kernel_bench.case import Case
from gpu.verify import from_logits

Call: TypeAlias = Callable[[], object]
Maker: TypeAlias = Callable[[Case], Call]
CHAIN = ("token", "block", "greedy-block")
TREE = ("rrs", "traversal")


def methods(case: Case, device: torch.device) -> Iterator[tuple[str, Maker]]:
    """(name, how to make the call) of all that apply; the first is what ratios are taken against.

    The kernels are timed compiled only; Triton's interpreter says nothing of their speed.
    """
    names = CHAIN if case.draft == "chain" else TREE
    if device.type == "cuda" and kernels.AVAILABLE:
        yield from ((f"{name} kernels", _kernels(name)) for name in names)
    yield from ((f"{name} torch", _plain(name)) for name in names)
    if case.draft == "chain":
        if case.B == 1:
            yield "transformers", _transformers
        if device.type == "cuda":
            yield from (("FlashInfer", _flashinfer), ("SGLang", _sglang), ("vLLM", _vllm))


def _kernels(name: str) -> Maker:
    def make(case: Case) -> Call:
        given = (case.target, case.proposal, case.tokens, case.coins, case.extra)
        return lambda: kernels.verify(name, case.tree, *given)

    return make


def _plain(name: str) -> Maker:
    def make(case: Case) -> Call:
        given = (case.target, case.proposal, case.tokens, case.coins, case.extra)
        return lambda: from_logits(name, case.tree, *given)

    return make


def _transformers(case: Case) -> Call:
    """One request at a time; draws its own noise."""
    sample = import_module("transformers.generation.utils")._speculative_sampling
    settled = {"is_done_candidate": False, "last_assistant_token_is_eos": False, "max_matches": case.gamma}
    extra = {key: settled[key] for key in inspect.signature(sample).parameters if key in settled}
    target, proposal = case.target.float(), case.proposal.float()
    return lambda: sample(case.tokens, proposal, case.gamma, target, **extra)


def _flashinfer(case: Case) -> Call:
    sample = import_module("flashinfer.sampling").chain_speculative_sampling
    tokens = case.tokens.int()
    return lambda: sample(case.proposal.float().softmax(-1), tokens, case.target.float().softmax(-1))


def _sglang(case: Case) -> Call:
    try:
        module = import_module("sglang.srt.speculative.reject_sampling")
    except ModuleNotFoundError:  # where later releases have it
        module = import_module("sglang.kernels.ops.speculative.reject_sampling")
    sample = module.chain_speculative_sampling_triton
    B, N = case.B, case.tree.size
    device = case.target.device
    first = torch.zeros(B, 1, dtype=torch.long, device=device)
    candidates = torch.cat((first, case.tokens), 1)
    index = torch.arange(B * N, device=device).reshape(B, N)
    predicts = torch.zeros(B * N, dtype=torch.int32, device=device)
    accepted = torch.full((B, N), -1, dtype=torch.int32, device=device)
    count = torch.zeros(B, dtype=torch.int32, device=device)
    return lambda: sample(
        predicts, accepted, count, candidates, index, index, index, case.coins, case.extra,
        case.target.float().softmax(-1), case.proposal.float().softmax(-1), 1.0, 1.0, True,
    )  # fmt: skip


def _vllm(case: Case) -> Call:
    """Random requests without seeds; the bonus token is drawn outside, as vLLM's sampler does."""
    sample = import_module("vllm.v1.sample.rejection_sampler").rejection_sample
    B, gamma, V = case.B, case.gamma, case.V
    counts = [gamma] * B
    ends = gamma * torch.arange(1, B + 1, dtype=torch.int32, device=case.target.device)
    tokens = case.tokens.flatten().int()
    metadata = SimpleNamespace(all_greedy=False, all_random=True, temperature=None, generators={})

    def call() -> object:
        target = case.target.float().softmax(-1)
        proposal = case.proposal.float().softmax(-1).reshape(-1, V)
        bonus = (target[:, -1] / torch.empty_like(target[:, -1]).exponential_()).argmax(-1, keepdim=True)
        rows = target[:, :-1].reshape(-1, V)
        return sample(tokens, counts, gamma, ends, proposal, rows, bonus.int(), metadata)

    return call
