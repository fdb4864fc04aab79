"""Figures of ensembles, and their numbers beside them; matplotlib is the optional extra `plot`."""

import csv
import json
from contextlib import ExitStack
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from typing import Any

from draftproof.simulators.figures import required
from draftproof.simulators.files import replacing, unusable
from draftproof.simulators.gap.ensemble import Series
from draftproof.theory.errors import BadInput

BOUNDS = ("full information", "stateless")
"""Drawn as bare lines."""

LOOKS: dict[str, tuple[str, object, str]] = {
    "full information": ("0.55", ":", "1"),
    "stateless": ("0.0", "-", "_"),
    "layered": ("#0072b2", "--", "o"),
    "lifted": ("#d55e00", "-.", "s"),
    "optimal-transport": ("#009e73", ":", "^"),
    "traversal": ("#cc79a7", (0, (5, 1)), "D"),
    "rrs": ("#8c564b", (0, (3, 1, 1, 1)), "v"),
    "multipath-block": ("#56b4e9", "--", "x"),
    "block": ("#0072b2", "--", "D"),
    "token": ("#8c564b", (0, (3, 1, 1, 1)), "v"),
    "greedy-block": ("#009e73", "-.", "^"),
    "hsd-released": ("#d55e00", ":", "x"),
}
OTHERS: list[tuple[str, object, str]] = [
    ("#333333", "--", "P"),
    ("#777777", "-.", "*"),
    ("#cc79a7", ":", "<"),
    ("#56b4e9", (0, (5, 1)), ">"),
]
"""(colour, line, marker): within a figure no two of the first share line and marker; grey is enough. Where
the axis has no order, markers stand alone."""


def write(series: Series, folder: Path) -> list[Path]:
    """Writes gap-WHAT.svg, .png, .json and .csv into a folder; BadInput where that cannot be done."""
    figure = drawn(series)
    paths = [folder / f"gap-{series.what}.{ending}" for ending in ("svg", "png", "json", "csv")]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out {unusable(folder, error)}") from None
    with ExitStack() as whole:
        svg, png, numbers, lines = (whole.enter_context(replacing(path)) for path in paths)
        figure.savefig(svg, metadata={"Date": None})
        figure.savefig(png, dpi=150)
        numbers.write_text(json.dumps(document(series), indent=1) + "\n", encoding="utf-8")
        with lines.open("w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows(_lines(series))
    return paths


def drawn(series: Series) -> Any:
    """The figure: E[tau] on the left, its share of the stateless optimum on the right."""
    figure = required()(figsize=(9.5, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    at = [point.at for point in series.points]
    ordered = not any(isinstance(place, str) for place in at)
    others = cycle(OTHERS)
    for name in _names(series):
        rows = [{row.name: row for row in point.summaries}.get(name) for point in series.points]
        colour, line, marker = LOOKS.get(name) or next(others)
        look: dict[str, Any] = {
            "color": colour,
            "linestyle": line if ordered else "",
            "marker": "" if ordered and name in BOUNDS else marker,
            "markersize": 4 if ordered else 6,
            "fillstyle": "full" if ordered else "none",
            "linewidth": 1.3,
        }
        left.plot(at, [row.mean if row else None for row in rows], label=name, **look)
        right.plot(at, [100 * row.stateless if row else None for row in rows], **look)
    for axes, label in (
        (left, "E[tau] (accepted tokens an iteration)"),
        (right, "share of the stateless optimum (%)"),
    ):
        axes.set_xlabel(series.axis)
        axes.set_ylabel(label)
        axes.grid(color="0.9", linewidth=0.6)
        if all(isinstance(place, int) for place in at):
            axes.set_xticks(at)
    figure.suptitle(series.fixed, fontsize=9)
    figure.legend(loc="outside right center", frameon=False)
    return figure


def document(series: Series) -> dict[str, Any]:
    """The numbers as one JSON document; means are floats of exact values."""
    points = [
        {
            "at": point.at,
            "distance": point.distance,
            "verifiers": {row.name: _numbers(asdict(row)) for row in point.summaries},
        }
        for point in series.points
    ]
    return {"vary": series.what, "axis": series.axis, "fixed": series.fixed, "points": points}


def _numbers(row: dict[str, Any]) -> dict[str, Any]:
    del row["name"]
    return row


def _names(series: Series) -> list[str]:
    # In the order of the last point's table, bounds first; those met at any point.
    return list(dict.fromkeys(row.name for point in reversed(series.points) for row in point.summaries))


def _lines(series: Series) -> list[list[object]]:
    lines: list[list[object]] = [[series.what, "distance", *asdict(series.points[0].summaries[0])]]
    for point in series.points:
        lines += [[point.at, point.distance, *asdict(row).values()] for row in point.summaries]
    return lines
