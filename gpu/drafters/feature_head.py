"""The feature drafter's network: one decoder layer over the target's hidden states (li2025eagle3)."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.cache_utils import Cache
from transformers.models.llama.modeling_llama import LlamaModel, LlamaRMSNorm

from draftproof.theory.errors import BadInput


class FeatureHead(nn.Module):
    """Predicts the next token from the token before it and a feature of what stands before that.

    The feature at position t is a fused low, middle and high hidden state of the target at t - 1
    where the target has been, and this network's own output at t - 1 where it has not. Embeddings
    and output head are the target's, so only the fusion and one decoder layer are learned.
    """

    def __init__(self, config: LlamaConfig, source: int, layers: tuple[int, ...]) -> None:
        """`source` is the target's hidden size, `layers` the indices of its hidden states that are read."""
        super().__init__()
        hidden = config.hidden_size
        self.config, self.source, self.layers = config, source, layers
        self.fuse = nn.Linear(source * len(layers), hidden, bias=False)
        self.feature_norm = LlamaRMSNorm(hidden, config.rms_norm_eps)
        self.token_norm = LlamaRMSNorm(hidden, config.rms_norm_eps)
        self.join = nn.Linear(2 * hidden, hidden, bias=False)
        self.decoder = LlamaModel(config)
        self.decoder.embed_tokens = None  # type: ignore[assignment]  # inputs come embedded

    def fused(self, hidden_states: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
        """The target's hidden states as one feature, [B, T, hidden]."""
        return self.fuse(torch.cat([hidden_states[layer] for layer in self.layers], dim=-1))

    def forward(
        self,
        embedded: Tensor,
        feature: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        past_key_values: Cache | None = None,
        use_cache: bool = True,
    ) -> Tensor:
        """Hidden states [B, T, hidden], ready for the target's output head.

        `embedded` [B, T, hidden] are the tokens at `position_ids`, `feature` [B, T, hidden] belongs
        to the positions before them, `attention_mask` [B or 1, 1, T, keys] is true where a key is seen.
        """
        inputs = self.join(torch.cat([self.token_norm(embedded), self.feature_norm(feature)], dim=-1))
        return self.decoder(
            inputs_embeds=inputs,
            attention_mask=attention_mask,
            position_ids=position_ids,
            past_key_values=past_key_values,
            use_cache=use_cache,
        ).last_hidden_state

    def save(self, folder: Path) -> None:
        """Writes model.safetensors (bfloat16) and config.json."""
        folder.mkdir(parents=True, exist_ok=True)
        weights = {name: each.to(torch.bfloat16).contiguous() for name, each in self.state_dict().items()}
        save_file(weights, folder / "model.safetensors")
        about = {
            "draftproof": "feature drafter",
            "source": self.source,
            "layers": list(self.layers),
            "decoder": self.config.to_diff_dict(),
        }
        (folder / "config.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def new_head(target: Any) -> FeatureHead:
    """An untrained feature head for a target: one layer as wide as the target."""
    config = target.config
    depth = config.num_hidden_layers
    decoder = LlamaConfig(
        vocab_size=1,
        hidden_size=config.hidden_size,
        intermediate_size=config.intermediate_size,
        num_hidden_layers=1,
        num_attention_heads=config.num_attention_heads,
        num_key_value_heads=config.num_key_value_heads,
        max_position_embeddings=config.max_position_embeddings,
        bos_token_id=None,
        eos_token_id=None,
    )
    quarter = depth // 4
    layers = (min(2, quarter), depth // 2, depth - max(1, min(3, quarter)))
    return FeatureHead(decoder, config.hidden_size, layers)


def load_head(folder: Path, target: Any) -> FeatureHead:
    """The feature head saved in a folder; BadInput where it does not fit the target."""
    try:
        about = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        head = FeatureHead(LlamaConfig(**about["decoder"]), about["source"], tuple(about["layers"]))
        head.load_state_dict(load_file(folder / "model.safetensors"))
    except FileNotFoundError as error:
        raise BadInput(f"{error.filename or folder}: no such file") from None
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        raise BadInput(f"{folder}: not a feature drafter: {str(error).splitlines()[0]}") from None
    config = target.config
    fits = (head.source, head.config.hidden_size) == (config.hidden_size, config.hidden_size)
    if not fits or max(head.layers) > config.num_hidden_layers:
        raise BadInput(f"{folder}: made for a target of hidden size {head.source}, not {config.hidden_size}")
    embeddings = target.get_input_embeddings().weight
    return head.to(embeddings.device, embeddings.dtype).eval()
