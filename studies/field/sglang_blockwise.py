"""sgl-project/sglang 0.5.23: `blockwise_rejection_torch` of `BlockwiseRejection`, one request, all seeds.

The file calls it a reference with the same math as its kernels. It returns (number of accepted tokens, next
token, number cut). Not run: its kernels, the budget. Needs triton.
"""

from types import SimpleNamespace

from clones import clone

from draftproof.simulators.audit.adapters import kernels
from draftproof.simulators.audit.adapters.engine_code import TorchChain, function_of

kernels.interpreted()

import torch

FILE = clone("sgl-project/sglang", "python/sglang/kernels/ops/speculative/dspark/blockwise_rejection.py")


class Struct:
    def __init_subclass__(cls, **_): ...


sample = function_of(FILE, "sglang", "blockwise_rejection_torch", {"msgspec": {"Struct": Struct}})


def blockwise(target_logits, draft_logits, tokens):
    one, key = torch.ones(1), int(torch.randint(2**62, (1,)))
    kept, last, _ = sample(
        candidates=torch.cat([torch.zeros(1, dtype=tokens.dtype), tokens])[None],
        target_logits=target_logits,
        draft_logits=draft_logits[None],
        target_temperatures=one,
        draft_temperatures=one,
        noise=SimpleNamespace(key=key, counter=torch.zeros(1, dtype=torch.int64)),
    )
    return torch.cat([tokens[: int(kept[0])], last])


verify = TorchChain(blockwise, name="sglang blockwise_rejection_torch", logits=True, slow=True)
