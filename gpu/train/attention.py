"""Causal attention over whole windows of text, without a mask."""

from typing import Any

from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface

CAUSAL = "draftproof-causal"
"""Its name for transformers. Of their own "sdpa" they ask in every pass whether texts are packed, which waits
for a GPU, and when compiled they make a mask, which the fast kernels do not take."""


def causal(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attention [B, T, heads, size] of each position to those up to it; keys may have fewer heads."""
    seen = functional.scaled_dot_product_attention(
        query, key, value, is_causal=True, scale=scaling, enable_gqa=True
    )
    return seen.transpose(1, 2).contiguous(), None


AttentionInterface.register(CAUSAL, causal)
