"""Trains tokenizer, target, drafter, feature and block drafters. Every stage can be resumed."""

import json
import math
import shutil
import time
from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

from draftproof.gpu.drafters.block_diffusion import BlockNetwork, Variant, new_block
from draftproof.gpu.drafters.dflash import load_block
from draftproof.gpu.drafters.features import FeatureHead, load_head, new_head
from draftproof.gpu.network.models import quiet
from draftproof.gpu.train import loop
from draftproof.gpu.train.blocks import Blocks, block_loss, blocks, shared
from draftproof.gpu.train.data import byte_pairs, documents, encoded, kept_apart
from draftproof.gpu.train.recipe import CAUSAL, PRESETS, Preset
from draftproof.simulators.support import figures
from draftproof.simulators.support.files import replacing
from draftproof.theory.errors import BadInput

STAGES = ("target", "drafter", "features", "block")
Progress: TypeAlias = Callable[[str, int, int, float], None]
"""Called with (stage, steps done, steps in all, loss)."""
CONFIDENT = Variant(confidence=True)
MEASURED = 16  # batches of held-out text for measuring the finished models


def train(
    out: Path,
    preset: str,
    corpus: Path | None,
    seed: int,
    progress: Progress,
    variant: Variant = CONFIDENT,
    scale: float | None = None,
) -> dict[str, Any]:
    """Trains a pair into the folder `out`, resuming an earlier run; returns the contents of train.json.

    `variant` is of the block drafter, and `scale` of the weights exp(-(k - 1) / scale) of its tokens' losses
    (0: no weights; None: half a block). A finished run is not repeated, but gets what it lacks. Raises
    BadInput if the folder belongs to a run with other settings.
    """
    started, sizes = time.monotonic(), PRESETS[preset]
    settings = {"preset": preset, "seed": seed, "corpus": str(corpus) if corpus else "standard library"}
    settings["block"] = asdict(variant) | {"scale": sizes.block / 2 if scale is None else scale}
    earlier = _earlier_run(out, settings)
    if "overlap" in earlier and "block" in earlier:
        return earlier | {"out": str(out), "seconds": 0.0}
    texts = documents(corpus and corpus.resolve(), sizes.megabytes)
    if not earlier or "overlap" in earlier:
        try:
            (out / "work").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{out}: cannot be written: {error.strerror}") from None
        _write(out / "train.json", settings)
    run = _Run(out, sizes, seed, progress, variant)
    unseen = run.read(texts)
    target = run.stage("target", loop.text_loss)
    fixed, depth = run.compiled(target), run.sizes.rollouts
    drafter = run.stage("drafter", lambda model, batch: loop.drafter_loss(model, fixed, batch))
    head = run.stage("features", lambda model, batch: loop.rollout_loss(model, target, batch, depth), target)
    weight = settings["block"]["scale"]
    block = run.stage("block", lambda model, batch: block_loss(_blocks(model, target, batch), weight), target)
    models = {"target": target, "drafter": drafter, "features": head, "block": block}
    answer = settings | {
        "sizes": asdict(run.sizes),
        "characters": sum(map(len, texts)),
        "tokens": run.count,
        "epochs": round(run.sizes.steps[0] * run.sizes.batch * run.length / len(run.known), 2),
        "parameters": {name: sum(each.numel() for each in m.parameters()) for name, m in models.items()},
        **_measured(target, drafter, head, block, run.tokenizer, unseen, depth),
    }
    _write_curve(run.curves, out)
    _write(out / "train.json", answer)
    shutil.rmtree(run.work)
    return answer | {"out": str(out), "seconds": round(time.monotonic() - started, 1)}


class _Run:
    """The state shared by the stages of a run."""

    def __init__(self, out: Path, sizes: Preset, seed: int, progress: Progress, variant: Variant) -> None:
        self.out, self.sizes, self.seed, self.progress, self.variant = out, sizes, seed, progress, variant
        self.work = out / "work"
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.compiled = loop.Compiler(self.device)
        self.curves: dict[str, list[float]] = _read(self.work / "losses.json")

    def read(self, texts: list[str]) -> list[Tensor]:
        """Makes the tokenizer and encodes the corpus; returns batches of held-out text."""
        self.progress("tokenizer", 0, 1, math.nan)
        folder = self.out / "target" if (self.out / "target").exists() else self.work / "tokenizer"
        if not folder.exists():
            _whole_folder(folder, byte_pairs(texts, self.sizes.vocab).save_pretrained)
        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.known, unseen = (encoded(part, self.tokenizer) for part in kept_apart(texts))
        self.count = len(self.known) + len(unseen)
        self.progress("tokenizer", 1, 1, math.nan)
        self.length = min(self.sizes.context, len(unseen) // 2)
        if self.length < 8:
            raise BadInput(f"{self.out}: the corpus has too little text to train on")
        return [self.windows(unseen, f"held out {number}").to(self.device) for number in range(MEASURED)]

    def windows(self, tokens: np.ndarray, key: str) -> Tensor:
        """A batch [B, T] of windows that depends on the seed and a key."""
        return loop.batch_at(tokens, self.sizes.batch, self.length, f"{self.seed} {key}")

    def stage(self, name: str, loss: Callable[[Any, Tensor], Tensor], target: Any = None) -> Any:
        """Trains and saves a model unless an earlier run did, then loads it. Feature and block drafters need
        `target`.
        """
        if not (self.out / name).exists():
            number, checkpoint = STAGES.index(name), self.work / f"{name}.checkpoint"
            torch.manual_seed(self.seed + number)
            model = self._untrained(name, target).to(self.device)
            network = model if target is not None else self.compiled(model)
            steps = self.sizes.steps[number]
            self.curves[name] = loop.fit(
                model,
                lambda batch: loss(network, batch),
                lambda step: self.windows(self.known, f"{name} {step}"),
                steps,
                self.sizes.rate,
                checkpoint,
                lambda done, last: self.progress(name, done, steps, last),
            )
            _write(self.work / "losses.json", self.curves)
            with quiet():
                _whole_folder(self.out / name, lambda into: self._save(model, into))
            checkpoint.unlink(missing_ok=True)
        if target is not None:
            return (load_block if name == "block" else load_head)(self.out / name, target)
        trained: Any = AutoModelForCausalLM.from_pretrained(
            self.out / name, dtype=torch.float32, attn_implementation=CAUSAL, local_files_only=True
        )
        return trained.to(self.device).eval().requires_grad_(False)

    def _untrained(self, name: str, target: Any) -> Any:
        if name == "block":
            return new_block(
                target, min(self.sizes.block, self.length), self.sizes.block_layers, self.variant
            )
        if target is not None:
            return new_head(target)
        shape = self.sizes.target if name == "target" else self.sizes.drafter
        config = shape.config(len(self.tokenizer), self.sizes.context, self.tokenizer.eos_token_id)
        model = LlamaForCausalLM(config)
        model.set_attn_implementation(CAUSAL)
        return model

    def _save(self, model: Any, into: Path) -> None:
        if isinstance(model, FeatureHead | BlockNetwork):
            model.save(into)
        else:
            deepcopy(model).to(torch.bfloat16).save_pretrained(into)
            self.tokenizer.save_pretrained(into)


@torch.no_grad()
def _measured(
    target: Any,
    drafter: Any,
    head: FeatureHead,
    block: BlockNetwork,
    tokenizer: Any,
    batches: list[Tensor],
    depth: int,
) -> dict[str, Any]:
    """Held-out losses in nats per token and (to compare tokenizers) per character; mean of sum min(p, q)."""
    sums: defaultdict[str, float] = defaultdict(float)
    for batch in batches:
        rows, hidden = loop.rows_and_hidden(target, batch)
        sums["target"] += float(loop.text_loss(target, batch))
        sums["drafter"] += float(loop.text_loss(drafter, batch))
        sums["overlap"] += float(loop.overlap(drafter(input_ids=batch, use_cache=False).logits, rows))
        for step, logits in enumerate(loop.rollouts(head, target, hidden, batch, depth)):
            sums[f"features {step}"] += float(loop.overlap(logits, rows[:, step:]))
        for step, each in enumerate(shared(blocks(block, target, hidden, rows, batch)).mean((0, 1)).tolist()):
            sums[f"block {step}"] += each
    mean = {name: each / len(batches) for name, each in sums.items()}
    read = torch.cat(batches)[:, 1:]
    characters = sum(map(len, tokenizer.batch_decode(read.tolist(), skip_special_tokens=True)))
    length, steps = characters / read.numel(), {"features": depth, "block": block.block - 1}
    along = {name: [round(mean[f"{name} {k}"], 4) for k in range(count)] for name, count in steps.items()}
    return {
        "held_out_loss": {name: round(mean[name], 4) for name in ("target", "drafter")},
        "nats_per_character": {name: round(mean[name] / length, 4) for name in ("target", "drafter")},
        "overlap": {"drafter": round(mean["overlap"], 4), **along},
    }


def _blocks(network: BlockNetwork, target: Any, batch: Tensor) -> Blocks:
    rows, hidden = loop.rows_and_hidden(target, batch)
    return blocks(network, target, hidden, rows, batch)


def _earlier_run(out: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """The train.json of a run in that folder, empty if there is none; BadInput if it had other settings."""
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out}: is a file, not a folder")
    found = _read(out / "train.json")
    if not found and out.exists() and any(out.iterdir()):
        raise BadInput(f"{out}: is not empty and holds no training run")
    for key, value in settings.items():
        if key in found and found[key] != value:
            raise BadInput(f"{out}: was started with {key} {found.get(key)}, not {value}; use another folder")
    return found


def _whole_folder(folder: Path, save: Callable[[Path], object]) -> None:
    """Saves into a temporary folder that is renamed to `folder` when complete."""
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    save(partial)
    partial.replace(folder)


def _read(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty if there is no file."""
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except ValueError as error:
        raise BadInput(f"{path}: not JSON: {error}") from None


def _write(path: Path, value: Any, indent: int | None = 2) -> None:
    with replacing(path) as part:
        part.write_text(json.dumps(value, indent=indent) + "\n", encoding="utf-8")


def _write_curve(losses: dict[str, list[float]], folder: Path) -> None:
    """Writes curve.json (the loss of every step of every stage, in nats) and, with matplotlib, curve.png."""
    rounded = {name: [round(each, 4) for each in row] for name, row in losses.items()}
    _write(folder / "curve.json", rounded, indent=None)
    try:
        figure = figures.required()(figsize=(7, 4), layout="constrained")
    except BadInput:
        return
    axes = figure.subplots()
    for name, row in losses.items():
        axes.plot(range(1, len(row) + 1), row, label=name, linewidth=1)
    axes.set(xlabel="step", ylabel="loss (nats a token)", title="Training loss")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(folder / "curve.png", dpi=120)
