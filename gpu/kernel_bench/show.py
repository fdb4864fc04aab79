"""Points as a table, a document and a figure."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from rich.table import Table

from draftproof.gpu.device import described
from draftproof.gpu.figure import look, required, save
from draftproof.gpu.kernel_bench.methods import CHAIN, TREE
from draftproof.gpu.kernel_bench.run import WHOLE, Point


def table(points: Sequence[Point]) -> Table:
    """One line a point; methods that could not run say why."""
    made = Table(title="Verification from logits")
    for heading in ("draft", "gamma", "V", "B", "method", "time", "MB", "of floor", "ratio", ""):
        made.add_column(heading, justify="left" if heading in ("draft", "method", "") else "right")
    for point in points:
        made.add_row(
            point.draft,
            str(point.gamma),
            f"{point.V:,}",
            str(point.B),
            point.method,
            spelled(point.seconds),
            f"{point.bytes / 1e6:,.1f}",
            "" if point.floor_share is None else f"{point.floor_share:.1%}",
            "" if point.ratio is None else f"{point.ratio:.2f}",
            point.note,
        )
    return made


def spelled(seconds: float | None) -> str:
    """
    >>> spelled(0.0000421), spelled(0.0421), spelled(None)
    ('42.1 us', '42.1 ms', '')
    """
    if seconds is None:
        return ""
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"


def document(
    points: Sequence[Point], device: torch.device, bandwidth: float | None, complete: bool
) -> dict[str, Any]:
    """What --json prints."""
    return {
        "device": described(device),
        "gpu": device.type == "cuda",
        "copy_bytes_per_second": bandwidth,
        "complete": complete,
        "ok": complete and not missing(points),
        "points": [asdict(point) for point in points],
    }


def missing(points: Sequence[Point]) -> list[Point]:
    """What could not be measured of this project's own methods; a peer that is not there is no fault."""
    own = *(f"{name} {kind}" for name in (*CHAIN, *TREE) for kind in ("kernels", "torch")), WHOLE
    return [point for point in points if point.seconds is None and point.method in own]


def plot(points: Sequence[Point], path: Path, device: torch.device) -> None:
    """Share of the bandwidth floor against the batch size, a panel a draft and vocabulary."""
    rows = sorted({(point.draft, point.gamma) for point in points})
    columns = sorted({point.V for point in points})
    figure = required(path)(figsize=(3.2 * len(columns) + 1.8, 2.6 * len(rows) + 0.6), layout="constrained")
    axes = figure.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey=True)
    batches = sorted({point.B for point in points})
    names = list(dict.fromkeys(point.method for point in points if point.seconds))
    for (draft, gamma), line in zip(rows, axes, strict=True):
        for V, axis in zip(columns, line, strict=True):
            axis.set_title(f"{draft}, gamma = {gamma}, V = {V:,}", fontsize=9)
            axis.set_xscale("log", base=2)
            axis.set_xticks(batches, map(str, batches))
            axis.set_yscale("log")
            axis.axhline(100, color="0.6", linewidth=0.8)
            for index, name in enumerate(names):
                found = [
                    (point.B, 100 * point.floor_share)
                    for point in points
                    if (point.draft, point.gamma, point.V, point.method) == (draft, gamma, V, name)
                    and point.floor_share
                ]
                if found:
                    axis.plot(*zip(*found, strict=True), label=name, **look(index))
    figure.supxlabel("requests B")
    figure.supylabel("% of the bandwidth floor (one read of each logit)")
    save(figure, path, described(device))
