"""A small Llama's pass in few operations, for drafters on a CPU, where calls cost more than arithmetic."""

from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from transformers import LlamaForCausalLM

MOST = 2**22
"""Parameters of the largest network whose weights are copied for this, at the beginning of each run."""


def fused(network: Any) -> Any:
    """The network's pass, if it is a Llama that is small enough and on a CPU; else the network itself."""
    config, hooks = network.config, (*network._forward_hooks, *network._forward_pre_hooks)
    if type(network) is not LlamaForCausalLM or network.device.type != "cpu" or hooks:
        return network
    rope = config.rope_parameters["rope_type"], config.hidden_act, config._attn_implementation
    biased = config.attention_bias or config.mlp_bias or network.num_parameters() > MOST
    return network if biased or rope != ("default", "silu", "sdpa") else Fused(network)


class Fused:
    """Called as the network, with a mask, positions and a cache; gives the same logits up to rounding.
    Products with the same factor are one: queries, keys and values; both branches of the feed-forward.
    """

    def __init__(self, network: Any) -> None:
        config, body = network.config, network.model
        self.size, self.eps = config.head_dim, config.rms_norm_eps
        self.heads, self.shared = config.num_attention_heads, config.num_key_value_heads
        self.table, self.norm, self.head = body.embed_tokens.weight, body.norm.weight, network.lm_head.weight
        places = torch.arange(config.max_position_embeddings)[None]
        self.turns = [each[0] for each in body.rotary_emb(self.table, places)]  # cosines and sines
        self.layers = []
        for layer in body.layers:
            attention, mlp = layer.self_attn, layer.mlp
            into = torch.cat([attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight])
            fed = torch.cat([mlp.gate_proj.weight, mlp.up_proj.weight])
            norms = layer.input_layernorm.weight, layer.post_attention_layernorm.weight
            self.layers.append((*norms, into, attention.o_proj.weight, fed, mlp.down_proj.weight))

    def __call__(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        past_key_values: Any,
        logits_to_keep: int = 0,
        **_: Any,
    ) -> Any:
        states, both = functional.embedding(input_ids, self.table), self.heads + self.shared
        cosine, sine = (functional.embedding(position_ids, each)[:, :, None] for each in self.turns)
        for number, (before, after, into, out, fed, down) in enumerate(self.layers):
            made = functional.linear(self._normed(states, before), into).unflatten(-1, (-1, self.size))
            turned, values = made[:, :, :both], made[:, :, both:].transpose(1, 2)
            one, two = turned.chunk(2, -1)
            turned = (turned * cosine + torch.cat((-two, one), -1) * sine).transpose(1, 2)
            keys, values = past_key_values.update(turned[:, self.heads :], values, number)
            seen = functional.scaled_dot_product_attention(
                turned[:, : self.heads], keys, values, attention_mask, enable_gqa=True
            )
            states = states + functional.linear(seen.transpose(1, 2).flatten(2), out)
            gate, up = functional.linear(self._normed(states, after), fed).chunk(2, -1)
            states = states + functional.linear(functional.silu(gate) * up, down)
        states = self._normed(states[:, -logits_to_keep:], self.norm)
        return SimpleNamespace(logits=functional.linear(states, self.head))

    def _normed(self, states: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(states, weight.shape, weight, self.eps)
