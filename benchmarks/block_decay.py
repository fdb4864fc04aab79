"""What the weights exp(-(k - 1) / g) do to a block drafter: sum min(p, q) by token of the block.

    python -m benchmarks.block_decay train OUT --decay 4 --steps 900
    python -m benchmarks.block_decay measure OUT/block OTHER/block

`train` gives the shipped target a block drafter as `gpu train` does, in any number of steps. `measure`: all
held-out text in windows of 256 tokens, with the same anchors for all folders; beside each mean its ratio to
the first token's, and how much larger that ratio is than the last folder's. Intervals (95 %) are clustered by
window.
"""

import argparse
import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.stats import t as student
from transformers import AutoModelForCausalLM, AutoTokenizer

from draftproof.gpu.drafters.choose import SHIPPED
from draftproof.gpu.drafters.dflash import load_block
from draftproof.gpu.train import run
from draftproof.gpu.train.blocks import blocks, shared
from draftproof.gpu.train.data import documents, encoded, kept_apart
from draftproof.gpu.train.loop import rows_and_hidden
from draftproof.gpu.train.recipe import CAUSAL, PRESETS

TINY = PRESETS["tiny"]


def train(out: Path, decay: float, steps: int) -> dict[str, Any]:
    """Trains a block drafter for a copy of the shipped target; an interrupted run is continued."""
    if not out.exists():
        out.mkdir(parents=True)
        for name in ("target", "drafter", "features"):
            shutil.copytree(SHIPPED / name, out / name)
        about = json.loads((SHIPPED / "train.json").read_text(encoding="utf-8"))
        del about["block"]
        (out / "train.json").write_text(json.dumps(about), encoding="utf-8")
    PRESETS["tiny"] = replace(TINY, steps=(*TINY.steps[:3], steps))
    return run.train(out, "tiny", None, 0, lambda *_: None, scale=decay)


def windows(target: Path) -> torch.Tensor:
    """All held-out text [N, T], in windows that do not overlap."""
    _, unseen = kept_apart(documents(None, TINY.megabytes))
    tokens = encoded(unseen, AutoTokenizer.from_pretrained(target, local_files_only=True))
    whole = tokens[: len(tokens) // TINY.context * TINY.context].astype(np.int64)
    return torch.from_numpy(whole).view(-1, TINY.context)


@torch.inference_mode()
def overlaps(folders: list[Path], target: Path) -> np.ndarray:
    """Mean of sum min(p, q), [folders, windows, tokens of the block]."""
    whole = AutoModelForCausalLM.from_pretrained(target, dtype=torch.float32, attn_implementation=CAUSAL)
    networks = [load_block(folder, whole.eval()) for folder in folders]
    found = []
    for batch in windows(target).split(1):  # which determines the anchors
        rows, hidden = rows_and_hidden(whole, batch)
        drafted = (blocks(each, whole, hidden, rows, batch) for each in networks)
        found.append(torch.stack([shared(each).mean((0, 1)) for each in drafted]))
    return torch.stack(found, 1).numpy()


def bounded(estimates: np.ndarray, deviations: np.ndarray) -> list[str]:
    """Estimates with half-widths of 95 % intervals, from the deviations [windows, tokens] of their mean."""
    count = len(deviations)
    half = student.ppf(0.975, count - 1) * deviations.std(0, ddof=1) / count**0.5
    return [f"{mean:.3f} ± {width:.3f}" for mean, width in zip(estimates, half, strict=True)]


def compared(found: np.ndarray) -> list[dict[str, list[str]]]:
    """For each folder, by token: the mean, its ratio to the first token's, and by how much both are above the
    last folder's, window by window. The interval of a ratio is that of its linearisation.
    """
    means = found.mean(1)
    ratios = means / means[:, :1]
    deviations = (found - ratios[:, None] * found[:, :, :1]) / means[:, None, :1]
    return [
        {
            "mean": bounded(means[k], found[k]),
            "mean above the last": bounded(means[k] - means[-1], found[k] - found[-1]),
            "ratio": bounded(ratios[k], deviations[k]),
            "ratio above the last": bounded(ratios[k] - ratios[-1], deviations[k] - deviations[-1]),
        }
        for k in range(len(found))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="what", required=True)
    training = commands.add_parser("train")
    training.add_argument("out", type=Path)
    training.add_argument("--decay", type=float, default=TINY.block / 2)
    training.add_argument("--steps", type=int, default=TINY.steps[3])
    commands.add_parser("measure").add_argument("folders", type=Path, nargs="+")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.what == "train":
        print(train(given.out, given.decay, given.steps)["overlap"], time.process_time(), "s")
        return
    found = overlaps(given.folders, SHIPPED / "target")
    for folder, lines in zip(given.folders, compared(found), strict=True):
        for name, values in lines.items():
            print(folder, name, *values, sep=" | ")


if __name__ == "__main__":
    main()
