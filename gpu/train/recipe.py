"""Sizes of the models, lengths of their training, and their attention function during training."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn import functional
from transformers import AttentionInterface, LlamaConfig

CAUSAL = "draftproof-causal"
"""The name under which transformers knows `causal`. Its own "sdpa" checks in every pass whether texts are
packed, which waits for the GPU; and when compiled it makes a mask, which the fast kernels do not support."""


def causal(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Causal attention [B, T, heads, size]; keys may have fewer heads than queries."""
    attended = functional.scaled_dot_product_attention(
        query, key, value, is_causal=True, scale=scaling, enable_gqa=True
    )
    return attended.transpose(1, 2).contiguous(), None


AttentionInterface.register(CAUSAL, causal)


@dataclass(frozen=True)
class Shape:
    """The size of a Llama decoder."""

    hidden: int
    layers: int
    heads: int
    kv_heads: int
    feedforward: int

    def config(self, vocab: int, context: int, end: int) -> LlamaConfig:
        """The transformers configuration; `end` is the id of the end-of-text token."""
        return LlamaConfig(
            vocab_size=vocab,
            hidden_size=self.hidden,
            intermediate_size=self.feedforward,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            num_key_value_heads=self.kv_heads,
            max_position_embeddings=context,
            tie_word_embeddings=True,
            bos_token_id=end,
            eos_token_id=end,
            pad_token_id=None,
        )


@dataclass(frozen=True)
class Preset:
    """Sizes and lengths of a training run; `steps` is for the target, the drafter, the feature drafter and
    the block drafter, which drafts blocks of `block` tokens, the anchor included, with `block_layers` layers.
    """

    vocab: int
    context: int
    megabytes: int
    target: Shape
    drafter: Shape
    batch: int
    steps: tuple[int, int, int, int]
    rate: float
    rollouts: int = 3
    block: int = 8
    block_layers: int = 2


_SMALL_TARGET = Shape(128, 4, 4, 2, 344)
_GPU_TARGET = Shape(512, 8, 8, 4, 1376)
PRESETS = {
    "tiny": Preset(1024, 256, 8, _SMALL_TARGET, Shape(64, 2, 2, 1, 172), 8, (800, 500, 250, 900), 3e-3),
    "small": Preset(2048, 256, 24, _SMALL_TARGET, Shape(96, 2, 3, 1, 256), 8, (1200, 1500, 300, 1200), 3e-3),
    "gpu": Preset(
        8192, 1024, 256, _GPU_TARGET, Shape(256, 2, 4, 2, 688), 32, (2500, 1500, 1000, 1000), 1e-3, block=16
    ),
}
"""`tiny` is included in the package, `small` takes minutes on two cores, `gpu` is for one large GPU."""
