"""Published multi-token prediction layers (liu2024deepseekv3), one after the target's last layer."""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from draftproof.gpu.drafters.features import Head
from draftproof.gpu.drafters.published import Layout, fill, weights
from draftproof.gpu.network.models import of_mtp
from draftproof.theory.errors import BadInput

QWEN: Layout = (
    ("mtp.fc.", "eh_proj."),
    ("mtp.pre_fc_norm_embedding.", "enorm."),
    ("mtp.pre_fc_norm_hidden.", "hnorm."),
    ("mtp.norm.", "norm."),
    ("mtp.layers.0.", "block."),
)
"""Qwen3-Next, Qwen3.5 and Mellum."""
SPECULATORS: Layout = (
    ("mtp_layers.0.input_proj.", "eh_proj."),
    ("mtp_layers.0.token_layernorm.", "enorm."),
    ("mtp_layers.0.hidden_layernorm.", "hnorm."),
    ("mtp_layers.0.final_layernorm.", "norm."),
    ("mtp_layers.0.", "block."),
)
EXPERT = re.compile(r"(.+\.experts)\.(\d+)\.(gate|up|down)_proj\.weight")


def _deepseek(number: int) -> Layout:
    """DeepSeek-V3 and GLM-4.5: a layer after the last one."""
    layer = f"model.layers.{number}."
    names = (
        ("enorm.", "enorm."),
        ("hnorm.", "hnorm."),
        ("eh_proj.", "eh_proj."),
        ("shared_head.norm.", "norm."),
    )
    return (*((layer + theirs, ours) for theirs, ours in names), (layer, "block."))


class MtpHead(Head):
    """The norms of the last token's embedding and of the feature, joined and projected, go through a layer
    like the target's own and a norm. Features are the target's last hidden state (after its own norm) or, of
    drafted tokens, this layer's output. Embeddings and output head are the target's.
    """

    def __init__(self, target: Any) -> None:
        super().__init__()
        network = target.get_decoder()
        last = network.layers[-1]
        self.config = config = _config(target.config)
        norm, hidden = type(last.input_layernorm), config.hidden_size
        self.layers = (target.config.get_text_config(decoder=True).num_hidden_layers,)
        self.rotary = [network.rotary_emb]  # in a list, since it is no part of this network
        self.enorm, self.hnorm, self.norm = (norm(hidden, eps=config.rms_norm_eps) for _ in range(3))
        self.eh_proj = nn.Linear(2 * hidden, hidden, bias=False)
        self.block: Any = type(last)(config, 0)

    def fused(self, hidden_states: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
        return hidden_states[self.layers[0]]

    def forward(
        self, embedded: Tensor, feature: Tensor, attention_mask: Tensor, position_ids: Tensor, **options: Any
    ) -> Tensor:
        """States [B, T, hidden], which are features of the next positions; arguments as for `FeatureHead`."""
        joined = torch.cat((self.enorm(embedded), self.hnorm(feature)), dim=-1)
        options |= {"attention_mask": attention_mask, "position_ids": position_ids}
        turned = self.rotary[0](embedded, position_ids)
        return self.norm(self.block(self.eh_proj(joined), position_embeddings=turned, **options))


def _config(config: Any) -> Any:
    """The target's configuration for a single layer that attends to the whole text."""
    made = deepcopy(config.get_text_config(decoder=True))
    if getattr(made, "num_mtp_layers", None):
        made = config.get_mtp_config()
    elif getattr(made, "layer_types", None):
        made.layer_types = ["full_attention"]
    made.num_hidden_layers = 1
    made._attn_implementation = config._attn_implementation
    return made


def load_mtp(folder: Path, target: Any) -> MtpHead:
    """The MTP layer in a folder: a target's own checkpoint, or speculators' of the layer alone. BadInput if
    there is none, if there are several, or if keys are missing or unknown.
    """
    given = weights(folder, lambda key: of_mtp(key, target.config) or key.startswith("mtp_layers."))
    if not given:
        raise BadInput(f"{folder}: the checkpoint has no MTP layer")
    after = target.config.get_text_config(decoder=True).num_hidden_layers
    layouts = {"mtp.": QWEN, "mtp_layers.": SPECULATORS}
    begins = (layout for begin, layout in layouts.items() if any(key.startswith(begin) for key in given))
    layout = next(begins, _deepseek(after))
    numbers = {found[0] for key in given if (found := re.search(r"layers\.\d+", key))}
    if len(numbers) > 1:
        raise BadInput(f"{folder}: {len(numbers)} MTP layers; one can be loaded")
    try:
        head = MtpHead(target)
    except (AttributeError, TypeError) as error:
        kind = type(target).__name__
        raise BadInput(f"{folder}: the MTP layer of a {kind} cannot be loaded: {error}") from None
    shared = [f"model.layers.{after}.{name}." for name in ("embed_tokens", "shared_head.head")]
    left_out = [*shared, "mtp.embed_tokens.", "mtp.lm_head."]
    return fill(head, target, _stacked(given), layout, folder, left_out)


def _stacked(given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The same weights with those of all experts in one tensor, as transformers keeps them."""
    found = {key: each for key, each in given.items() if not EXPERT.fullmatch(key)}
    experts: dict[str, dict[tuple[int, str], Tensor]] = {}
    for key, each in given.items():
        if named := EXPERT.fullmatch(key):
            experts.setdefault(named[1], {})[int(named[2]), named[3]] = each
    for name, parts in experts.items():
        numbers = sorted({number for number, _ in parts})
        try:
            both = [torch.cat((parts[each, "gate"], parts[each, "up"])) for each in numbers]
            found[f"{name}.gate_up_proj"] = torch.stack(both)
            found[f"{name}.down_proj"] = torch.stack([parts[each, "down"] for each in numbers])
        except KeyError as error:
            number, part = error.args[0]
            lost = f"{name}.{number}.{part}_proj.weight"
            raise BadInput(f"the checkpoint lacks weights: {lost}") from None
    return found
