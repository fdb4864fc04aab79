"""Reads saved drafters, in the layouts in which they are published."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from draftproof.gpu.network.models import keys_of, lacking
from draftproof.theory.errors import BadInput

Network = TypeVar("Network", bound=nn.Module)
Layout: TypeAlias = tuple[tuple[str, str], ...]
"""(published beginning of a key, beginning of the parameter's name here); the first that fits counts."""

KINDS = "eagle3", "dflash"
"""Kinds of published drafters that can be loaded."""


def config_of(folder: Path) -> dict[str, Any]:
    """The config.json of a folder; empty if there is none. BadInput if it is not a JSON object."""
    file = folder / "config.json"
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise BadInput(f"{file}: cannot be read: {str(error).splitlines()[0]}") from None
    if not isinstance(found, dict):
        raise BadInput(f"{file}: not a JSON object")
    return found


def kind(config: Mapping[str, Any]) -> str | None:
    """Which of the `KINDS` of drafters a config.json describes; None for another model. Layouts are those of
    SafeAILab/EAGLE, SpecForge, z-lab's DFlash, and speculators (vllm-project).

    >>> kind({"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000})
    'eagle3'
    >>> kind({"speculators_model_type": "dflash"}), kind({"architectures": ["LlamaForCausalLM"]})
    ('dflash', None)
    """
    if "speculators_model_type" in config:
        given = str(config["speculators_model_type"])
        if given not in KINDS:
            raise BadInput(f"speculators_model_type {given}: {', '.join(KINDS)} can be loaded")
        return given
    if "dflash_config" in config:
        return "dflash"
    named = any("Eagle3" in str(each) for each in config.get("architectures") or ())
    return "eagle3" if named or "draft_vocab_size" in config else None


def weights(folder: Path) -> dict[str, Tensor]:
    """The tensors of a folder's safetensors files, in one piece or in shards, or of its
    pytorch_model.bin; BadInput if there is no such file.
    """
    files, pickled = sorted(folder.glob("*.safetensors")), folder / "pytorch_model.bin"
    found: dict[str, Tensor] = {}
    try:
        for file in files:
            with safe_open(file, "pt") as opened:
                found |= {key: opened.get_tensor(key) for key in opened.keys()}  # noqa: SIM118
        if not files and pickled.is_file():
            return torch.load(pickled, map_location="cpu", weights_only=True)
    except (SafetensorError, OSError, ValueError, RuntimeError, EOFError) as error:
        raise BadInput(f"{folder}: its weights cannot be read: {str(error).splitlines()[0]}") from None
    if not files:
        raise BadInput(f"{folder}: neither safetensors files nor a pytorch_model.bin")
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
    named = {_changed(key, layout): key for key in kept}
    own = module.state_dict()
    inverse = tuple((ours, theirs) for theirs, ours in layout)
    missing = sorted(_changed(name, inverse) for name in own if name not in named)
    unknown = sorted(key for name, key in named.items() if name not in own)
    if problem := lacking(missing, unknown):
        raise BadInput(f"{folder}: {problem}")
    for name, key in named.items():
        if kept[key].shape != own[name].shape:
            shapes = f"{[*kept[key].shape]}, not {[*own[name].shape]}"
            raise BadInput(f"{folder}: {key} has the shape {shapes}")
    module.load_state_dict({name: kept[key] for name, key in named.items()})
    beside = target.get_input_embeddings().weight
    for parameter in module.parameters():
        parameter.data = parameter.data.to(beside.dtype)
    return module.to(beside.device).eval().requires_grad_(False)


def settings(config: Mapping[str, Any], names: Iterable[str], folder: Path) -> list[Any]:
    """The values of these keys of a config.json; BadInput names those that it lacks."""
    names = list(names)
    if absent := [name for name in names if config.get(name) is None]:
        raise BadInput(f"{folder}: config.json lacks {keys_of(absent)}")
    return [config[name] for name in names]


def _changed(key: str, layout: Layout) -> str:
    for old, new in layout:
        if key.startswith(old):
            return new + key[len(old) :]
    return key
