"""Which models a command means: a target and its drafter by path, or by the names that stand for them."""

import json
from pathlib import Path

import torch

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.drafters.feature_head import load_head
from draftproof.gpu.drafters.features import FeatureDrafter
from draftproof.gpu.drafters.model import ModelDrafter
from draftproof.gpu.drafters.ngram import NgramDrafter
from draftproof.gpu.models import Model, check_pair, load
from draftproof.theory.errors import BadInput

SHIPPED = Path(__file__).parents[1] / "pair"
"""The tiny pair that comes with the project."""


def pair(
    model: str | None, drafter: str | None, device: str | None = None, dtype: torch.dtype | None = None
) -> tuple[Model, Drafter | None]:
    """The target and the drafter of a run; BadInput when they cannot be loaded or do not fit.

    `model` is a folder of transformers' or a name it knows, or a folder that `draftproof gpu train`
    made; None, or `shipped`, is the pair that ships. `drafter` is such a model too, or `features` (the
    one trained with the target), `ngram`, or `none`; None is the drafter trained with the target, and
    ngram where there is none.
    """
    model = None if model == "shipped" else model
    folder = Path(model) if model is not None else SHIPPED
    if (folder / "target" / "config.json").is_file():
        folder = folder / "target"
    elif (folder / "work").is_dir():
        raise BadInput(
            f"{folder}: this training run is not finished; run the same `draftproof gpu train` again"
        )
    target = load(folder if model is None or folder.exists() else model, device, dtype)
    beside = folder.parent
    if drafter is None:
        trained = folder.name == "target" and (beside / "drafter" / "config.json").is_file()
        drafter = str(beside / "drafter") if trained else "ngram"
    return target, _drafter(drafter, beside, target, dtype)


def _drafter(name: str, beside: Path, target: Model, dtype: torch.dtype | None) -> Drafter | None:
    if name == "none":
        return None
    if name == "ngram":
        return NgramDrafter(target)
    if name == "features":
        return FeatureDrafter(load_head(beside / "features", target.network), target)
    if _is_head(Path(name)):
        return FeatureDrafter(load_head(Path(name), target.network), target, name)
    model = load(name, target.device, dtype or target.network.dtype)
    check_pair(target, model)
    return ModelDrafter(model)


def _is_head(folder: Path) -> bool:
    try:
        return "draftproof" in json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
