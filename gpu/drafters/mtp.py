"""Drafting with a head for multi-token prediction, in the layout of speculators."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from draftproof.gpu.drafters import published as saved
from draftproof.gpu.drafters.eagle3 import FeatureHead
from draftproof.theory.errors import BadInput

LAYERS = {name: name for name in ("qwen3", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")}
"""Types of layers that these heads may have."""
LAYOUT: saved.Layout = (
    ("mtp_layers.0.final_layernorm.", "decoder.norm."),
    ("mtp_layers.", "decoder.layers."),
)


class MtpHead(FeatureHead):
    """One decoder layer, which reads a projection of the token's embedding and the feature, each after a norm
    and side by side. Its output after a last norm is the feature of the next position; the target's own
    output head, which `lm_head` is, makes logits of it.

    Features of the text are the target's states after its last norm, from which its logits are made. vLLM
    decodes with these; the states that speculators records for training are those before that norm.
    """

    def __init__(self, config: Any) -> None:
        super().__init__(config, (-1,), frozenset({"norm_output"}))
        layer, norm, hidden = self.decoder.layers[0], type(self.decoder.norm), config.hidden_size
        layer.token_layernorm, layer.hidden_layernorm = (norm(hidden, config.rms_norm_eps) for _ in range(2))
        layer.input_proj = nn.Linear(2 * hidden, hidden, bias=False)

    def _first(self, layer: Any, embedded: Tensor, feature: Tensor, options: dict[str, Any]) -> Tensor:
        joined = torch.cat((layer.token_layernorm(embedded), layer.hidden_layernorm(feature)), dim=-1)
        return layer(layer.input_proj(joined), **options)


def load_mtp(folder: Path, target: Any) -> MtpHead:
    """The head in a folder; BadInput if there is more than one, if keys are missing or unknown, or if the
    head does not fit the target.
    """
    about, text = saved.config_of(folder), target.config.get_text_config(decoder=True)
    if (heads := about.get("num_nextn_predict_layers", 1)) != 1:
        raise BadInput(f"{folder}: num_nextn_predict_layers {heads}: 1 can be loaded")
    (inner,) = saved.settings(about, [saved.INNER], folder)
    config = saved.decoder(inner, folder, LAYERS)
    saved.fits(config.hidden_size, text, folder)
    config.num_hidden_layers, config.layer_types = 1, ["full_attention"]
    head = saved.fill(MtpHead(config), target, saved.weights(folder), LAYOUT, folder, saved.SHARED)
    head.lm_head = target.get_output_embeddings()
    return head
