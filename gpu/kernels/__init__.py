"""The verifiers from logits, fused over the vocabulary: Triton kernels with the decisions of `gpu.verify`.

Compiled on a GPU; elsewhere in Triton's interpreter, which is for tests: it is slow. Without Triton this
package still imports, `AVAILABLE` is false and `verify` raises BadInput.
"""

from importlib.util import find_spec

import torch
from torch import Tensor

from draftproof.gpu.draft import Tree
from draftproof.gpu.kernels.interpreter import interpret_without_gpu, interpreted
from draftproof.gpu.rows import COLDEST, Setting, probabilities
from draftproof.gpu.verify import Outcome, named
from draftproof.theory.errors import BadInput

AVAILABLE = find_spec("triton") is not None
"""Whether Triton is installed."""

if AVAILABLE:
    interpret_without_gpu()

NAMES = ("block", "greedy-block", "nss", "one-hot", "rrs", "specinfer", "token", "traversal")
"""Verifiers that have kernels."""


def verify(
    name: str,
    tree: Tree,
    target_logits: Tensor,
    proposal_logits: Tensor | None,
    tokens: Tensor,
    coins: Tensor,
    extra: Tensor,
    *,
    temperature: Setting = 1.0,
    top_k: int | Tensor = 0,
    top_p: Setting = 1.0,
    min_p: Setting = 0.0,
) -> Outcome:
    """One iteration of the verifier of that name for each row of a batch; see `gpu.verify` for the arguments.

    target_logits [B, N, V] and proposal_logits [B, I, V] are float32, bfloat16 or float16, each read once for
    its softmax, and once more the rows of rejections that matter. The temperature is a number, or one for
    each request in a tensor of B positive ones (0 is error 1 there), and needs no pass of its own; top_k,
    top_p, min_p and the number 0 are applied by `gpu.rows` first. Nothing is read back from the device but
    a shared tree's shape, once. Raises BadInput where Triton is missing or shapes do not fit;
    `Outcome.error` has what is wrong with one request.

    >>> even = torch.zeros(1, 2, 4)
    >>> drafted = even, even[:, :1], torch.tensor([[3]]), torch.tensor([[0.5]]), torch.tensor([0.0])
    >>> here = AVAILABLE and interpreted()
    >>> assert not here or verify("block", Tree.chain(1), *drafted).node.tolist() == [1]
    """
    if not AVAILABLE:
        raise BadInput("the kernels need Triton, which is not installed: pip install 'draftproof[gpu]'")
    verifier = named(name)
    if name not in NAMES:
        raise BadInput(f"{name} has no kernels; those with kernels are {', '.join(NAMES)}")
    verifier.must_fit(tree, target_logits, proposal_logits, tokens, coins, extra)
    if target_logits.device.type == "cpu" and not interpreted():
        raise BadInput("the kernels are compiled for a GPU, and these logits are on the CPU")
    from draftproof.gpu.kernels.launch import launch

    filters = ((top_k, 0), (top_p, 1), (min_p, 0))
    filtered = any(isinstance(given, Tensor) or given != neutral for given, neutral in filters)
    if filtered or (not isinstance(temperature, Tensor) and temperature <= 0):
        heat = temperature.reshape(-1, 1, 1) if isinstance(temperature, Tensor) else temperature
        settings = heat, top_k, top_p, min_p
        target_logits = probabilities(target_logits, *settings).log()
        if proposal_logits is not None:
            proposal_logits = probabilities(proposal_logits, *settings).log()
        temperature = 1.0
    heat = torch.empty(len(target_logits), dtype=torch.float32, device=target_logits.device)
    if isinstance(temperature, Tensor):
        heat.copy_(temperature.reshape(-1))
    else:
        heat.fill_(max(temperature, COLDEST))
    with torch.cuda.device_of(target_logits):  # Triton launches on the current device
        return Outcome(*launch(name, tree, target_logits, proposal_logits, heat, tokens, coins, extra))
