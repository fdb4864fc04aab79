"""sgl-project/sglang 0.5.23: the torch form of `BlockwiseRejection`.

SGLang calls this form the reference for its kernels. Neither the kernels nor the budget are run here.
"""

from types import SimpleNamespace

import torch
from clones import clone
from engines import TorchChain, function_of, interpreted


class Struct:
    def __init_subclass__(cls, **_): ...


FILE = clone("sgl-project/sglang", "python/sglang/kernels/ops/speculative/dspark/blockwise_rejection.py")
interpreted()
sample = function_of(FILE, "sglang", "blockwise_rejection_torch", {"msgspec": {"Struct": Struct}})


def sampled(target_logits, draft_logits, tokens):
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


verify = TorchChain(sampled, name="sglang blockwise_rejection_torch", logits=True, slow=True)
