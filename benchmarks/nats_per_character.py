"""What pairs made by `draftproof gpu train` know of the same text, in nats a character.

python benchmarks/nats_per_character.py [--characters 300000] PAIR...

Tokenizers differ, so nats a token of two pairs cannot be compared. The text is the beginning, at most
8,000 characters, of the last files of the standard library in the order of training: those kept apart,
or not reached. Models read it in windows of 256 tokens. sum min(p, q) is the mean over the same positions.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from draftproof.gpu.models import check_pair, load
from draftproof.gpu.train.data import encoded, names, readable, standard_library
from draftproof.gpu.train.loop import overlap

WINDOW = 256


def last_texts(characters: int) -> Iterator[str]:
    """Beginnings of the last files until there are so many characters."""
    folder = standard_library().resolve()
    for text in readable(folder, reversed(names(folder))):
        yield text[:8000]
        characters -= len(text[:8000])
        if characters <= 0:
            return


@torch.no_grad()
def measured(pair: Path, texts: list[str]) -> str:
    """A row of the table."""
    target, drafter = load(pair / "target"), load(pair / "drafter")
    check_pair(target, drafter)
    ids = torch.from_numpy(encoded(texts, target.tokenizer).astype(np.int64)).to(target.device)
    windows = ids[: (len(ids) - 1) // WINDOW * WINDOW + 1].unfold(0, WINDOW + 1, WINDOW)
    sums = np.zeros(3)
    for batch in windows.split(16):
        rows = [model.network(batch[:, :-1], use_cache=False).logits.float() for model in (target, drafter)]
        truth = batch[:, 1:].flatten()
        losses = [float(functional.cross_entropy(each.flatten(0, 1), truth)) for each in rows]
        sums += len(batch) * np.array([*losses, float(overlap(rows[1], rows[0].softmax(-1)))])
    mean = sums / len(windows)
    length = sum(map(len, texts)) / len(ids)
    sizes = [sum(each.numel() for each in model.network.parameters()) for model in (target, drafter)]
    shown = [f"{mean[0] / length:.3f}", f"{mean[1] / length:.3f}", f"{mean[2]:.3f}", f"{length:.2f}"]
    return " | ".join(["", str(pair), *(f"{each:,}" for each in sizes), *shown, ""]).strip()


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pairs", nargs="+", type=Path, metavar="PAIR")
    parser.add_argument("--characters", type=int, default=300_000)
    asked = parser.parse_args()
    texts = list(last_texts(asked.characters))
    print(
        "| pair | target's parameters | drafter's | target | drafter | sum min(p, q) | characters a token |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for pair in asked.pairs:
        print(measured(pair, texts), flush=True)


if __name__ == "__main__":
    main()
