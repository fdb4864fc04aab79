"""Cells as a figure."""

from collections.abc import Sequence
from pathlib import Path

from gpu.kernel_bench.show import required
from gpu.throughput.run import Cell
from gpu.throughput.show import rows
from theory.errors import BadInput


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
            look = {"color": f"C{index % 10}", "marker": "osD^vxP*<>"[index % 10], "label": method}
            heats = [row["temperature"] for row in some]
            below.plot(heats, [row["tokens_per_second"] for row in some], **look)
            if some and "steps" in some[0]:
                middle = [row["predicted_mean_acceptance_length"] for row in some]
                ends = [
                    [abs(row["interval"][end] - m) for row, m in zip(some, middle, strict=True)]
                    for end in (0, 1)
                ]
                top.errorbar(heats, middle, ends, color=look["color"], linewidth=0.8, capsize=2, fmt="none")
                top.plot(heats, [row["mean_acceptance_length"] for row in some], **look)
    axes[0, 0].set_ylabel("block efficiency\n(bars: predicted)")
    axes[1, 0].set_ylabel("tokens a second")
    figure.supxlabel("temperature")
    figure.suptitle(name, fontsize=9)
    labels = {
        text: handle
        for axis in axes.flat
        for handle, text in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(labels.values(), labels.keys(), loc="outside right upper", fontsize=8)
    try:
        figure.savefig(path, **({"metadata": {"Date": None}} if path.suffix == ".svg" else {"dpi": 150}))
    except (OSError, ValueError) as error:
        raise BadInput(f"--plot {path}: {str(error).splitlines()[0]}") from None
