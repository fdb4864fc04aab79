"""Who is measured: the kernels, plain torch, and peers. Every method does the whole step from logits."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import torch

from draftproof.gpu import kernels
from draftproof.gpu.kernel_bench import peers
from draftproof.gpu.kernel_bench.case import Case
from draftproof.gpu.kernel_bench.peers import Call
from draftproof.gpu.verify import from_logits

Maker: TypeAlias = Callable[[Case], Call]
CHAIN = ("token", "block", "greedy-block")
TREE = ("rrs", "traversal")
ON_GPU: dict[str, Maker] = {
    "FlashInfer token": peers.flashinfer,
    "SGLang token": peers.sglang,
    "SGLang block": partial(peers.sglang, block=True),
    "vLLM token": peers.vllm,
    "vLLM runner token": peers.vllm_runner,
    "vLLM runner block": partial(peers.vllm_runner, block=True),
}
"""Peers that need a GPU; all of them verify chains."""


def methods(case: Case, device: torch.device) -> Iterator[tuple[str, Maker]]:
    """(name, how to make the call) of all that apply; the first is what ratios are taken against.

    The kernels are timed compiled only; Triton's interpreter says nothing of their speed.
    """
    names = CHAIN if case.draft == "chain" else TREE
    if device.type == "cuda" and kernels.AVAILABLE:
        yield from ((f"{name} kernels", partial(_ours, kernels.verify, name)) for name in names)
    yield from ((f"{name} torch", partial(_ours, from_logits, name)) for name in names)
    if case.draft == "chain":
        if case.B == 1:
            yield "transformers token", peers.transformers
        if device.type == "cuda":
            yield from ON_GPU.items()


def _ours(verify: Callable[..., object], name: str, case: Case) -> Call:
    return partial(verify, name, case)
