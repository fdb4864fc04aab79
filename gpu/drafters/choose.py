"""The models that a command names: a target and its drafter, by path or by name."""

import json
from pathlib import Path

import torch

from draftproof.gpu.drafters.block_diffusion import NAME, BlockDrafter, load_block
from draftproof.gpu.drafters.drafter import Drafter, ModelDrafter, NgramDrafter
from draftproof.gpu.drafters.features import FeatureDrafter, load_head
from draftproof.gpu.models import Model, check_pair, load
from draftproof.theory.errors import BadInput

SHIPPED = Path(__file__).parents[1] / "pair"
"""The tiny pair that comes with the project."""

HEADS = {"features": "feature drafter", "block": NAME}
"""Drafters that need the target: the folder beside it, and what their config.json says that they are."""


def pair(
    model: str | None, drafter: str | None, device: str | None = None, dtype: torch.dtype | None = None
) -> tuple[Model, Drafter | None]:
    """The target and the drafter of a run; BadInput if they cannot be loaded or combined.

    `model` is a folder or a name that transformers can load, or a folder made by `draftproof gpu train`; None
    or `shipped` is the pair included in the package. `drafter` is another such model, or `features` or
    `block` (the feature and block drafters trained with the target), `ngram`, or `none`; None is the drafter
    trained with the target, or ngram if there is none.
    """
    folder = SHIPPED if model in (None, "shipped") else Path(model)
    if (folder / "target" / "config.json").is_file():
        folder = folder / "target"
    elif (folder / "work").is_dir():
        again = "run the same `draftproof gpu train` again"
        raise BadInput(f"{folder}: this training run is not finished; {again}")
    target = load(folder if folder.exists() else model or folder, device, dtype)
    beside = folder.parent
    if drafter is None:
        trained = folder.name == "target" and (beside / "drafter" / "config.json").is_file()
        drafter = str(beside / "drafter") if trained else "ngram"
    if drafter == "none":
        return target, None
    if drafter == "ngram":
        return target, NgramDrafter(target)
    head = beside / drafter if drafter in HEADS else Path(drafter)
    kind = HEADS.get(drafter) or _kind(head)
    if kind == NAME:
        return target, BlockDrafter(load_block(head, target.network), target, drafter)
    if kind is not None:
        return target, FeatureDrafter(load_head(head, target.network), target, drafter)
    smaller = load(drafter, target.device, dtype or target.network.dtype, target.vocab)
    check_pair(target, smaller)
    return target, ModelDrafter(smaller)


def _kind(folder: Path) -> str | None:
    """What a folder made by `draftproof gpu train` holds, if it is no model by itself."""
    try:
        return json.loads((folder / "config.json").read_text(encoding="utf-8")).get("draftproof")
    except (OSError, ValueError):
        return None
