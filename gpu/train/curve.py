"""The loss curves of a training run: JSON always, a picture where matplotlib is installed."""

import json
from pathlib import Path

from draftproof.simulators import figures
from draftproof.theory.errors import BadInput


def write_curve(losses: dict[str, list[float]], folder: Path) -> None:
    """Writes curve.json (the loss of every step of every stage, in nats) and, if it can, curve.png."""
    rounded = {name: [round(each, 4) for each in row] for name, row in losses.items()}
    (folder / "curve.json").write_text(json.dumps(rounded) + "\n", encoding="utf-8")
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
