"""The models that a command names: a target and its drafter, by path or by name."""

from pathlib import Path

import torch

from draftproof.gpu.drafters.block_diffusion import BlockDrafter
from draftproof.gpu.drafters.block_layouts import load_block
from draftproof.gpu.drafters.drafter import Drafter, ModelDrafter, NgramDrafter
from draftproof.gpu.drafters.eagle3 import FeatureDrafter, load_eagle3
from draftproof.gpu.drafters.mtp import load_mtp
from draftproof.gpu.drafters.published import config_of, kind
from draftproof.gpu.network.models import Model, check_pair, load
from draftproof.theory.errors import BadInput

SHIPPED = Path(__file__).parents[1] / "pair"
"""The tiny pair that comes with the project."""


def pair(
    model: str | None, drafter: str | None, device: str | None = None, dtype: torch.dtype | None = None
) -> tuple[Model, Drafter | None]:
    """The target and the drafter of a run; BadInput if they cannot be loaded or combined.

    `model` is a folder or a name that transformers can load, or a folder made by studies/train_pair.py; None
    or `shipped` is the pair included in the package. `drafter` is another such model, a folder with a
    published drafter (see `drafters.published`), `block` (the one trained with the target), `ngram`, or
    `none`; None is the drafter trained with the target, or ngram if there is none.
    """
    folder = SHIPPED if model in (None, "shipped") else Path(model)
    if (folder / "target" / "config.json").is_file():
        folder = folder / "target"
    target = load(folder if folder.exists() else model or folder, device, dtype)
    beside = folder.parent
    if drafter is None:
        trained = folder.name == "target" and (beside / "drafter" / "config.json").is_file()
        drafter = str(beside / "drafter") if trained else "ngram"
    if drafter == "none":
        return target, None
    if drafter == "ngram":
        return target, NgramDrafter(target)
    head = beside / drafter if drafter == "block" else Path(drafter)
    if found := published(head, target, drafter):
        return target, found
    if drafter == "block":
        raise BadInput(f"{head / 'config.json'}: no such file")
    smaller = load(drafter, target.device, dtype or target.network.dtype, target.vocab)
    check_pair(target, smaller)
    return target, ModelDrafter(smaller)


def published(folder: Path, target: Model, name: str) -> Drafter | None:
    """The published drafter in a folder, None if none is there; BadInput if it does not fit the target."""
    found = kind(config_of(folder))
    if found == "eagle3":
        return FeatureDrafter(load_eagle3(folder, target.network, target.vocab), target, name)
    if found == "mtp":
        return FeatureDrafter(load_mtp(folder, target.network), target, name)
    return BlockDrafter(load_block(folder, target.network), target, name) if found == "dflash" else None
