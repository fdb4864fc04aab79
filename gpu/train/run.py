"""Training a pair from nothing: tokenizer, target, drafter, feature drafter; every stage resumes."""

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
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

from draftproof.gpu.drafters.features import FeatureHead, load_head, new_head
from draftproof.gpu.models import quiet
from draftproof.gpu.train import folder
from draftproof.gpu.train.attention import CAUSAL
from draftproof.gpu.train.compiled import Compiler
from draftproof.gpu.train.corpus import documents, kept_apart
from draftproof.gpu.train.curve import write_curve
from draftproof.gpu.train.loop import batch_at, fit
from draftproof.gpu.train.losses import drafter_loss, rollout_loss, text_loss
from draftproof.gpu.train.measure import measured
from draftproof.gpu.train.presets import PRESETS, Preset
from draftproof.gpu.train.tokens import byte_pairs, encoded
from draftproof.theory.errors import BadInput

STAGES = ("target", "drafter", "features")
Advance = Callable[[str, int, int, float], None]
"""Told (stage, steps done, steps in all, loss)."""
MEASURED = 16
"""Batches of text kept apart that the finished models are measured on."""


def train(out: Path, preset: str, corpus: Path | None, seed: int, advance: Advance) -> dict[str, Any]:
    """Trains a pair into the folder `out`, going on where an earlier run stopped; what it measured.

    A folder that is finished is left as it is.
    """
    started = time.monotonic()
    settings = {"preset": preset, "seed": seed, "corpus": str(corpus) if corpus else "standard library"}
    begun = folder.begun(out, settings)
    if "overlap" in begun:
        return begun | {"out": str(out), "seconds": 0.0}
    texts = documents(corpus and corpus.resolve(), PRESETS[preset].megabytes)
    if not begun:
        folder.begin(out, settings)
    run = _Run(out, PRESETS[preset], seed, advance)
    unseen = run.read(texts)
    target = run.fresh("target")
    fast = run.compiled(target)
    run.stage("target", target, lambda batch: text_loss(fast, batch))
    target = run.trained("target")
    fixed = run.compiled(target)
    drafter = run.fresh("drafter")
    small = run.compiled(drafter)
    run.stage("drafter", drafter, lambda batch: drafter_loss(small, fixed, batch))
    drafter = run.trained("drafter")
    torch.manual_seed(seed + STAGES.index("features"))
    head = new_head(target).to(run.device)
    run.stage("features", head, lambda batch: rollout_loss(head, target, batch, run.sizes.rollouts))
    head = load_head(out / "features", target)
    answer = settings | {
        "sizes": asdict(run.sizes),
        "characters": sum(map(len, texts)),
        "tokens": run.count,
        "epochs": run.epochs(),
        "parameters": {"target": _count(target), "drafter": _count(drafter), "features": _count(head)},
        **measured(target, drafter, head, run.tokenizer, unseen, run.sizes.rollouts),
    }
    write_curve(run.curves, out)
    folder.write(out / "train.json", answer)
    shutil.rmtree(run.work)
    return answer | {"out": str(out), "seconds": round(time.monotonic() - started, 1)}


class _Run:
    """What the stages of a run share."""

    def __init__(self, out: Path, sizes: Preset, seed: int, advance: Advance) -> None:
        self.out, self.sizes, self.seed, self.advance = out, sizes, seed, advance
        self.work = out / "work"
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.compiled = Compiler(self.device)
        self.curves: dict[str, list[float]] = folder.read(self.work / "losses.json", {})

    def read(self, texts: list[str]) -> list[Tensor]:
        """Makes the tokenizer, encodes the corpus; batches of text that no model is trained on."""
        self.advance("tokenizer", 0, 1, math.nan)
        if not (self.work / "tokenizer").exists():
            folder.whole(self.work / "tokenizer", byte_pairs(texts, self.sizes.vocab).save_pretrained)
        self.tokenizer = AutoTokenizer.from_pretrained(self.work / "tokenizer", local_files_only=True)
        self.known, unseen = (encoded(part, self.tokenizer) for part in kept_apart(texts))
        self.count = len(self.known) + len(unseen)
        self.advance("tokenizer", 1, 1, math.nan)
        self.length = min(self.sizes.context, len(unseen) // 2)
        if self.length < 8:
            raise BadInput(f"{self.out}: the corpus has too little text to train on")
        return [self.windows(unseen, f"held out {number}").to(self.device) for number in range(MEASURED)]

    def windows(self, tokens: np.ndarray, key: str) -> Tensor:
        """A batch [B, T] of windows, chosen by the seed and a key."""
        return batch_at(tokens, self.sizes.batch, self.length, f"{self.seed} {key}")

    def epochs(self) -> float:
        """How many times the target reads the text."""
        return round(self.sizes.steps[0] * self.sizes.batch * self.length / len(self.known), 2)

    def fresh(self, name: str) -> Any:
        """A Llama with weights drawn by the seed."""
        torch.manual_seed(self.seed + STAGES.index(name))
        shape = self.sizes.target if name == "target" else self.sizes.drafter
        config = shape.config(len(self.tokenizer), self.sizes.context, self.tokenizer.eos_token_id)
        model: Any = LlamaForCausalLM(config)
        model.set_attn_implementation(CAUSAL)
        return model.to(self.device)

    def trained(self, name: str) -> Any:
        """The finished model of a stage, in float32."""
        model: Any = AutoModelForCausalLM.from_pretrained(
            self.out / name, dtype=torch.float32, attn_implementation=CAUSAL, local_files_only=True
        )
        return model.to(self.device).eval().requires_grad_(False)

    def stage(self, name: str, model: nn.Module, loss_of: Callable[[Tensor], Tensor]) -> None:
        """Trains a model and saves it into its folder, unless an earlier run has."""
        if (self.out / name).exists():
            return
        steps = self.sizes.steps[STAGES.index(name)]
        checkpoint = self.work / f"{name}.checkpoint"
        self.curves[name] = fit(
            model,
            loss_of,
            lambda step: self.windows(self.known, f"{name} {step}"),
            steps,
            self.sizes.rate,
            checkpoint,
            lambda done, loss: self.advance(name, done, steps, loss),
        )
        folder.write(self.work / "losses.json", self.curves)
        with quiet():
            folder.whole(self.out / name, lambda into: self._save(model, into))
        checkpoint.unlink(missing_ok=True)

    def _save(self, model: Any, into: Path) -> None:
        if isinstance(model, FeatureHead):
            model.save(into)
        else:
            deepcopy(model).to(torch.bfloat16).save_pretrained(into)
            self.tokenizer.save_pretrained(into)


def _count(model: nn.Module) -> int:
    return sum(each.numel() for each in model.parameters())
