"""Training a pair from nothing: tokenizer, target, drafter, feature drafter; every stage resumes."""

import json
import math
import shutil
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM, PreTrainedModel

from gpu.drafters.feature_head import FeatureHead, load_head, new_head
from gpu.models import quiet
from gpu.train.corpus import HELD_OUT, byte_pairs, documents, encoded, standard_library
from gpu.train.curve import write_curve
from gpu.train.loop import batch_at, fit
from gpu.train.losses import overlap, rollout_loss, rollouts, row_loss, target_rows, text_loss
from gpu.train.presets import PRESETS, Preset
from theory.errors import BadInput

STAGES = ("target", "drafter", "features")
Advance = Callable[[str, int, int, float], None]
"""Told (stage, steps done, steps in all, loss)."""


def train(out: Path, preset: str, corpus: Path | None, seed: int, advance: Advance) -> dict[str, Any]:
    """Trains a pair into the folder `out`, going on where an earlier run stopped; what it measured."""
    sizes = PRESETS[preset]
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    folder = (corpus or standard_library()).resolve()
    _begin(out, {"preset": preset, "seed": seed, "corpus": str(corpus) if corpus else "standard library"})
    started = time.monotonic()
    work = out / "work"
    texts = documents(folder, sizes.megabytes)
    advance("tokenizer", 0, 1, math.nan)
    if not (work / "tokenizer").exists():
        _whole(work / "tokenizer", byte_pairs(texts, sizes.vocab).save_pretrained)
    tokenizer = AutoTokenizer.from_pretrained(work / "tokenizer", local_files_only=True)
    tokens = encoded(texts, tokenizer)
    advance("tokenizer", 1, 1, math.nan)
    known, unseen = np.split(tokens, [int(len(tokens) * (1 - HELD_OUT))])
    length = min(sizes.context, len(unseen) // 2)
    if length < 8:
        raise BadInput(f"{folder}: too little text to train on")

    curves: dict[str, list[float]] = _read(work / "losses.json", {})

    def stage(
        name: str, model: nn.Module, loss_of: Callable[[Tensor], Tensor], save: Callable[[Path], object]
    ):
        if (out / name).exists():
            return
        steps = sizes.steps[STAGES.index(name)]
        curves[name] = fit(
            model,
            loss_of,
            lambda step: batch_at(known, sizes.batch, length, f"{seed} {name} {step}"),
            steps,
            sizes.rate,
            work / f"{name}.checkpoint",
            lambda done, loss: advance(name, done, steps, loss),
        )
        _write(work / "losses.json", curves)
        with quiet():
            _whole(out / name, save)
        (work / f"{name}.checkpoint").unlink(missing_ok=True)

    target = _fresh(sizes, "target", tokenizer, seed).to(device)
    stage(
        "target", target, lambda batch: text_loss(target, batch), lambda to: _save_lm(target, tokenizer, to)
    )
    target = _trained(out / "target", device)
    drafter = _fresh(sizes, "drafter", tokenizer, seed + 1).to(device)

    def drafter_loss(batch: Tensor) -> Tensor:
        return row_loss(drafter(input_ids=batch, use_cache=False).logits, target_rows(target, batch)[0])

    stage("drafter", drafter, drafter_loss, lambda to: _save_lm(drafter, tokenizer, to))
    drafter = _trained(out / "drafter", device)
    torch.manual_seed(seed + 2)
    head = new_head(target).to(device)
    stage("features", head, lambda batch: rollout_loss(head, target, batch, sizes.rollouts), head.save)
    head = load_head(out / "features", target)

    measured = _measure(
        target, drafter, head, batch_at(unseen, 16, length, f"{seed} held out"), sizes.rollouts
    )
    answer = _read(out / "train.json", {}) | {
        "sizes": asdict(sizes),
        "tokens": len(tokens),
        "parameters": {
            name: _count(model) for name, model in zip(STAGES, (target, drafter, head), strict=True)
        },
        **measured,
    }
    _write(out / "train.json", answer)
    write_curve(curves, out)
    shutil.rmtree(work)
    return answer | {"out": str(out), "seconds": round(time.monotonic() - started, 1)}


def _begin(out: Path, settings: dict[str, Any]) -> None:
    """Makes the folder, or checks that the run begun there is this one."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out}: is a file, not a folder")
    begun = _read(out / "train.json", None)
    if begun is None:
        if out.exists() and any(out.iterdir()):
            raise BadInput(f"{out}: is not empty and holds no training run")
        (out / "work").mkdir(parents=True)
        _write(out / "train.json", settings)
    elif different := [key for key, value in settings.items() if begun.get(key) != value]:
        key = different[0]
        raise BadInput(
            f"{out}: was begun with {key} {begun.get(key)}, not {settings[key]}; take another folder"
        )
    (out / "work").mkdir(exist_ok=True)


def _fresh(sizes: Preset, name: str, tokenizer: Any, seed: int) -> Any:
    torch.manual_seed(seed)
    shape = sizes.target if name == "target" else sizes.drafter
    return LlamaForCausalLM(shape.config(len(tokenizer), sizes.context, tokenizer.eos_token_id))


def _trained(folder: Path, device: torch.device) -> Any:
    model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    return model.to(device).eval().requires_grad_(False)


def _save_lm(model: Any, tokenizer: Any, folder: Path) -> None:
    deepcopy(model).to(torch.bfloat16).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _measure(
    target: PreTrainedModel, drafter: PreTrainedModel, head: FeatureHead, batch: Tensor, depth: int
) -> dict[str, Any]:
    """Losses and overlaps on text no model was trained on."""
    batch = batch.to(next(target.parameters()).device)
    with torch.no_grad():
        rows, hidden = target_rows(target, batch)
        passes = enumerate(rollouts(head, target, hidden, batch, depth))
        own = [round(float(overlap(logits, rows[:, step:])), 4) for step, logits in passes]
        small = drafter(input_ids=batch, use_cache=False).logits
        return {
            "held_out_loss": {
                "target": round(float(text_loss(target, batch)), 4),
                "drafter": round(float(text_loss(drafter, batch)), 4),
            },
            "overlap": {"drafter": round(float(overlap(small, rows)), 4), "features": own},
        }


def _count(model: nn.Module) -> int:
    return sum(each.numel() for each in model.parameters())


def _whole(folder: Path, save: Callable[[Path], object]) -> None:
    """Saves into a folder that appears under its name only when everything is in it."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    save(partial)
    partial.replace(folder)


def _read(path: Path, otherwise: Any) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return otherwise
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from None


def _write(path: Path, value: Any) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    partial.replace(path)
