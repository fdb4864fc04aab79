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


def _rows(logits: Tensor) -> Tensor:
    return logits.float().softmax(-1)
