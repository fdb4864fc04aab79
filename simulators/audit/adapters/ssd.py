"""Speculative speculative decoding: `verify` of `ssd/utils/verify.py`, by --path.

Version: tanishqkumar/ssd 6ed3022 (2026-03-05), the paper's reference code.
Signature: (logits_p [B, gamma + 1, V], logits_q [B, gamma, V], speculations [B, gamma + 1],
temperatures_target, temperatures_draft, cache_hits, sampler_x, async_fan_out, jit_speculate); returns (for
each request its first token with the accepted ones, the token after them).
Checked: the law of one request at temperature 1, drafts drawn from q: `ssd`, on a hit of the speculation
cache; `ssd-miss`, on a miss, which is also what the synchronous mode (`cache_hits=None`) runs without
`jit_speculate`. There drafted tokens are compared with the target's likeliest: expect it to be found lossy.
Not checked: `sampler_x`, other temperatures, what is drafted on a miss, the processes around it.
"""

from pathlib import Path
from typing import Any

from draftproof.simulators.audit.adapters.engine_code import TorchChain, function_of


def made(path: Path | None, name: str, hit: bool) -> TorchChain:
    """The function of the file at `path`, called with a hit of the cache or with a miss."""
    import torch

    verify = function_of(path, "ssd", "verify")

    def call(target_logits: Any, draft_logits: Any, tokens: Any) -> Any:
        speculations = torch.cat([torch.zeros(1, dtype=tokens.dtype), tokens])[None]
        warm, hits = torch.ones(1), torch.tensor([hit])
        words, last = verify(target_logits[None], draft_logits[None], speculations, warm, warm, hits)
        return [*words[0][1:], *last]

    return TorchChain(call, name=f"{name} verify", logits=True)


TARGETS = {
    "ssd": lambda path: made(path, "ssd", True),
    "ssd-miss": lambda path: made(path, "ssd-miss", False),
}
