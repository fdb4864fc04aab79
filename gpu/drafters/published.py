"""Reads saved drafters, in the layouts in which they are published."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import torch
from huggingface_hub import load_state_dict_from_file
from torch import Tensor, nn
from transformers import AutoConfig
from transformers.models.qwen3 import modeling_qwen3 as qwen3

from draftproof.gpu.network.models import keys_of, lacking
from draftproof.gpu.sampling.device import refused
from draftproof.theory.errors import BadInput

Network = TypeVar("Network", bound=nn.Module)
Layout: TypeAlias = tuple[tuple[str, str], ...]
"""(published beginning of a key, beginning of the parameter's name here); the first that fits counts."""

GEMMA = "gemma4_text"
KINDS = {"eagle3": "eagle3", "peagle": "eagle3", "dflash": "dflash", "dflash2": "dflash", "dspark": "dflash"}
KINDS |= {"xpress": "dflash", "mtp": "mtp"}
"""Types of speculators' heads that can be loaded, and which of three networks here they are."""
SHARED = "d2t", "t2d", "verifier_", "rotary_emb."
"""Keys that are no parameters: the maps between vocabularies, the target's, and tables that are computed."""
DECODERS = {"qwen3": "qwen3", "llama": "llama"} | dict.fromkeys(("gemma4_text", "gemma4_unified_text"), GEMMA)
"""Types of layers that drafters may have, and of transformers' layers that these are."""
UNREAD = "model_type", "architectures", "dflash_config"
"""Keys of a drafter's config.json that are no settings of its layers."""
INNER = "transformer_layer_config"
"""Key of the settings of the layers of speculators' heads."""


def config_of(folder: Path) -> dict[str, Any]:
    """The config.json of a folder; empty if there is none. BadInput if it is not a JSON object."""
    file = folder / "config.json"
    if not file.exists():
        return {}
    with refused(f"{file}: cannot be read"):
        found = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise BadInput(f"{file}: not a JSON object")
    return found


def kind(config: Mapping[str, Any]) -> str | None:
    """Which of the networks `eagle3`, `dflash` and `mtp` a config.json describes; None for another model.
    Layouts are those of SafeAILab/EAGLE, SpecForge, z-lab's DFlash, deepseek-ai/DeepSpec, and speculators.

    >>> kind({"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000})
    'eagle3'
    >>> kind({"speculators_model_type": "dspark"}), kind({"architectures": ["LlamaForCausalLM"]})
    ('dflash', None)
    """
    if "speculators_model_type" in config:
        given = str(config["speculators_model_type"])
        if given not in KINDS:
            raise BadInput(f"speculators_model_type {given}: {', '.join(KINDS)} can be loaded")
        return KINDS[given]
    named = "".join(map(str, config.get("architectures") or ()))
    if "dflash_config" in config or "DSpark" in named or "DFlash" in named:
        return "dflash"
    return "eagle3" if "Eagle3" in named or "draft_vocab_size" in config else None


def decoder(given: Mapping[str, Any], folder: Path, types: Mapping[str, str] = DECODERS) -> Any:
    """The configuration of a drafter's layers; BadInput if they are of a type that cannot be loaded."""
    if (type_ := given.get("model_type", "qwen3")) not in types:
        raise BadInput(f"{folder}: layers of type {type_}: {', '.join(types)} can be loaded")
    kept = {key: each for key, each in given.items() if key not in UNREAD}
    return AutoConfig.for_model(types[type_], **kept)


def fits(size: int, text: Any, folder: Path) -> None:
    """BadInput if a drafter that reads states of this size is not made for a target of this configuration."""
    if size != text.hidden_size:
        raise BadInput(f"{folder}: made for a target of hidden size {size}, not {text.hidden_size}")


def gemma(config: Any) -> bool:
    """Whether these are Gemma's layers, which are not made as others are."""
    return config.model_type == GEMMA


def family(config: Any) -> tuple[Any, Any, Any]:
    """The decoder layer, norm and rotary embedding of a block drafter with this configuration."""
    if gemma(config):
        from transformers.models.gemma4 import modeling_gemma4 as gemma4

        return gemma4.Gemma4TextDecoderLayer, gemma4.Gemma4RMSNorm, gemma4.Gemma4TextRotaryEmbedding
    return qwen3.Qwen3DecoderLayer, qwen3.Qwen3RMSNorm, qwen3.Qwen3RotaryEmbedding


def weights(folder: Path) -> dict[str, Tensor]:
    """The tensors of a folder's safetensors files, in one piece or in shards, or of its
    pytorch_model.bin; BadInput if there is no such file.
    """
    found: dict[str, Tensor] = {}
    with refused(f"{folder}: its weights cannot be read"):
        for file in sorted(folder.glob("*.safetensors")) or [folder / "pytorch_model.bin"]:
            found |= load_state_dict_from_file(file, map_location="cpu", weights_only=True)
    return found


def fill(
    module: Network,
    target: Any,
    given: Mapping[str, Tensor],
    layout: Layout,
    folder: Path,
    left_out: Iterable[str] = (),
) -> Network:
    """Loads saved weights into a module and puts it beside the target, with parameters of the target's type
    and buffers in float32. Keys that begin with one of `left_out` are not needed. BadInput says, in the
    checkpoint's own spelling, which keys are missing or unknown, or whose shape is another.
    """
    kept = {key: each for key, each in given.items() if not key.startswith(tuple(left_out))}
    renamed = {_changed(key, layout): each for key, each in kept.items()}
    with refused(str(folder)):
        found = module.load_state_dict(renamed, strict=False)
    inverse = tuple((ours, theirs) for theirs, ours in layout)
    named = ([_changed(key, inverse) for key in keys] for keys in found)
    if problem := lacking(*named):
        raise BadInput(f"{folder}: {problem}")
    beside = target.get_input_embeddings().weight
    for parameter in module.parameters():
        parameter.data = parameter.data.to(beside.dtype)
    return module.to(beside.device).eval().requires_grad_(False)


def identified(given: Mapping[str, Tensor], vocab: int, folder: Path) -> Tensor:
    """The target's ids of the tokens of a drafter's own output head: d2t has the distance of each from its
    own number.
    """
    own = len(given["lm_head.weight"])
    if own == vocab:
        return torch.arange(vocab)
    if "d2t" not in given:
        raise BadInput(f"{folder}: the checkpoint lacks weights: d2t ({own} tokens of the target's {vocab})")
    ids = given["d2t"].long() + torch.arange(len(given["d2t"]))
    if len(ids) != own or len(ids.unique()) != own or ids.min() < 0 or ids.max() >= vocab:
        raise BadInput(f"{folder}: d2t does not name {own} different tokens of the target's {vocab}")
    if "t2d" in given and not torch.equal(given["t2d"].bool().nonzero()[:, 0], ids.sort().values):
        raise BadInput(f"{folder}: t2d and d2t name different tokens")
    return ids


def widened(rows: Tensor, ids: Tensor, vocab: int) -> Tensor:
    """Logits [.., D] of the tokens `ids` [D] as rows over the target's vocabulary [.., vocab]."""
    return rows.new_full((*rows.shape[:-1], vocab), -torch.inf).index_copy(-1, ids, rows)


def settings(config: Mapping[str, Any], names: Iterable[str], folder: Path) -> list[Any]:
    """The values of these keys of a config.json; BadInput names those that it lacks."""
    names = list(names)
    if absent := [name for name in names if config.get(name) is None]:
        raise BadInput(f"{folder}: config.json lacks {keys_of(absent)}")
    return [config[name] for name in names]


def mask_token(given: Any, rows: int, folder: Path) -> int:
    """A configuration's mask token; BadInput if it is not one of the `rows` tokens that are embedded."""
    if not isinstance(given, int) or not 0 <= given < rows:
        raise BadInput(f"{folder}: mask_token_id {given}: not one of {rows} tokens")
    return given


def _changed(key: str, layout: Layout) -> str:
    for old, new in layout:
        if key.startswith(old):
            return new + key[len(old) :]
    return key
