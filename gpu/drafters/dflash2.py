"""What DFlash 2 adds to a block drafter: convolutions along the block, and a choice among candidates by the
token before. Names and formulas are those of z-lab's package `dflash`.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.models.qwen3 import modeling_qwen3 as qwen3


class GroupedConvolution(nn.Module):
    """out[i] = sum_t (base[t] + delta[i, t]) in[i - t] along a block, for t < `taps`; `group` neighbouring
    channels share a delta, which is a linear function of the input. Side 0 is the input of a sublayer, side 1
    its output, with the deltas of its input.
    """

    def __init__(self, hidden: int, taps: int, group: int) -> None:
        super().__init__()
        self.taps, self.group = taps, group
        self.base_kernel = nn.Parameter(torch.zeros(2, taps, hidden))
        self.kernel_projection = nn.Linear(hidden, 2 * taps * (hidden // group), bias=False)

    def deltas(self, states: Tensor) -> Tensor:
        """[B, n, 2, taps, groups, 1], from a sublayer's inputs [B, n, H]."""
        return self.kernel_projection(states).unflatten(-1, (2, self.taps, -1, 1))

    def forward(self, states: Tensor, deltas: Tensor, side: int) -> Tensor:
        blocks, base = (each.unflatten(-1, (-1, self.group)) for each in (states, self.base_kernel[side]))
        made = torch.zeros_like(blocks)
        for t in range(self.taps):
            earlier = functional.pad(blocks, (0, 0, 0, 0, t, 0))[:, : blocks.shape[1]]
            made = made + (base[t].to(blocks) + deltas[:, :, side, t]) * earlier
        return made.flatten(-2)


class ConvolvedLayer(qwen3.Qwen3DecoderLayer):
    """A decoder layer with such convolutions before and after attention and feed-forward."""

    def __init__(self, config: Any, number: int, taps: int, group: int) -> None:
        super().__init__(config, number)
        self.attention_conv, self.mlp_conv = (
            GroupedConvolution(config.hidden_size, taps, group) for _ in range(2)
        )

    def forward(self, hidden_states: Tensor, *_: Any, **given: Any) -> Tensor:
        states = hidden_states
        for conv, norm, inner in (
            (self.attention_conv, self.input_layernorm, lambda each: self.self_attn(each, **given)[0]),
            (self.mlp_conv, self.post_attention_layernorm, self.mlp),
        ):
            normed = norm(states)
            deltas = conv.deltas(normed)
            states = states + conv(inner(conv(normed, deltas, 0)), deltas, 1)
        return states


class CandidateSelector(nn.Module):
    """Only a row's `count` largest logits are candidates c; each gets sum_r P[x, r] (A h)[r] S[c, r] more,
    for the state h of its place and the token x before it.
    """

    def __init__(self, hidden: int, vocab: int, rank: int, count: int) -> None:
        super().__init__()
        self.count = count
        self.predecessor_codebook, self.successor_codebook = (
            nn.Parameter(torch.zeros(vocab, rank)) for _ in range(2)
        )
        self.hidden_projection = nn.Linear(hidden, rank, bias=False)

    def forward(self, logits: Tensor, states: Tensor, before: Tensor) -> Tensor:
        """Rows [B, m, V], -inf but for the candidates, after tokens [B, m], from the logits [B, V] and the
        states [B, H] of their place.
        """
        best, ids = logits.topk(self.count, dim=-1)
        seen = self.predecessor_codebook[before] * self.hidden_projection(states)[:, None]
        scores = best[:, None] + torch.einsum("bmr,bkr->bmk", seen, self.successor_codebook[ids])
        rows = scores.new_full((*before.shape, logits.shape[-1]), -torch.inf)
        return rows.scatter(-1, ids[:, None].expand_as(scores), scores)
