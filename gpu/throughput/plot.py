"""Cells as a figure."""

from collections.abc import Sequence
from pathlib import Path

from draftproof.gpu.figure import look, required, save
from draftproof.gpu.throughput.run import Cell
from draftproof.gpu.throughput.show import rows


def plot(cells: Sequence[Cell], path: Path, name: str) -> None:
    """Block efficiency, measured and predicted, and tokens a second, against the temperature, by draft."""
    shown = rows(cells)
    drafts = list(dict.fromkeys(row["draft"] for row in shown if "steps" in row))
    figure = required(path)(figsize=(3.2 * len(drafts) + 2.4, 5.4), layout="constrained")
    axes = figure.subplots(2, len(drafts), squeeze=False, sharex=True, sharey="row")
    for column, draft in enumerate(drafts):
        top, below = axes[:, column]
        top.set_title(draft, fontsize=9)
        here = [row for row in shown if row["draft"] in (draft, "")]
        for index, method in enumerate(dict.fromkeys(row["method"] for row in shown)):
            some = sorted(
                (row for row in here if row["method"] == method), key=lambda row: row["temperature"]
            )
            style = look(index) | {"label": method}
            heats = [row["temperature"] for row in some]
            below.plot(heats, [row["tokens_per_second"] for row in some], **style)
            if some and "steps" in some[0]:
                middle = [row["predicted_mean_acceptance_length"] for row in some]
                ends = [
                    [abs(row["interval"][end] - m) for row, m in zip(some, middle, strict=True)]
                    for end in (0, 1)
                ]
                top.errorbar(heats, middle, ends, color=style["color"], linewidth=0.8, capsize=2, fmt="none")
                top.plot(heats, [row["mean_acceptance_length"] for row in some], **style)
    axes[0, 0].set_ylabel("block efficiency\n(bars: predicted)")
    axes[1, 0].set_ylabel("tokens a second")
    figure.supxlabel("temperature")
    save(figure, path, name)
