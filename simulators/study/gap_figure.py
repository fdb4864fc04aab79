"""The figure of `gap --vary`, and its numbers beside it."""

import csv
import json
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from typing import Any

from draftproof.simulators import figures
from draftproof.simulators.files import replacing, unusable
from draftproof.simulators.study.ensembles import Series
from draftproof.theory.errors import BadInput

BOUNDS = ("full information", "stateless")
"""Optima, drawn without markers."""

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
"""(colour, line, marker). No two verifiers of a default figure share line and marker, so that a figure can be
read without colour. On an axis without order there are markers only."""


def write(series: Series, folder: Path) -> list[Path]:
    """Writes gap-WHAT.svg, .png, .json and .csv into a folder; BadInput where that cannot be done."""
    figure, stem = drawn(series), folder / f"gap-{series.what}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"--out {unusable(folder, error)}") from None
    paths = figures.write(figure, stem, dpi=150)
    numbers, table = stem.with_suffix(".json"), stem.with_suffix(".csv")
    with replacing(numbers) as part:
        part.write_text(json.dumps(document(series), indent=1) + "\n", encoding="utf-8")
    with replacing(table) as part, part.open("w", newline="", encoding="utf-8") as out:
        rows = [(point, asdict(row)) for point in series.points for row in point.summaries]
        csv.writer(out).writerow([series.what, "distance", *rows[0][1]])
        csv.writer(out).writerows([point.at, point.distance, *row.values()] for point, row in rows)
    return [*paths, numbers, table]


def drawn(series: Series) -> Any:
    """The figure: E[tau] on the left, its ratio to the stateless optimum on the right."""
    figure = figures.required()(figsize=(9.5, 3.9), layout="constrained")
    at = [point.at for point in series.points]
    ordered = not any(isinstance(place, str) for place in at)
    points = [{row.name: row for row in point.summaries} for point in series.points]
    names = list(dict.fromkeys(name for point in reversed(points) for name in point))  # optima first
    others, looks = cycle(OTHERS), {}
    for name in names:
        colour, line, marker = LOOKS.get(name) or next(others)
        looks[name] = {
            "color": colour,
            "linestyle": line if ordered else "",
            "marker": "" if ordered and name in BOUNDS else marker,
            "markersize": 4 if ordered else 6,
            "fillstyle": "full" if ordered else "none",
        }
    panels = {
        "E[tau] (accepted tokens an iteration)": lambda row: row.mean,
        "share of the stateless optimum (%)": lambda row: 100 * row.stateless,
    }
    for axes, (label, value) in zip(figure.subplots(1, 2), panels.items(), strict=True):
        lines = {name: [value(p[name]) if name in p else None for p in points] for name in names}
        figures.curves(axes, at, lines, looks)
        axes.set_xlabel(series.axis)
        axes.set_ylabel(label)
        if all(isinstance(place, int) for place in at):
            axes.set_xticks(at)
    figure.suptitle(series.fixed, fontsize=9)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def document(series: Series) -> dict[str, Any]:
    """The numbers as one JSON document; means are floats of exact values."""
    points = []
    for point in series.points:
        rows = {row.name: {k: v for k, v in asdict(row).items() if k != "name"} for row in point.summaries}
        points.append({"at": point.at, "distance": point.distance, "verifiers": rows})
    return {"vary": series.what, "axis": series.axis, "fixed": series.fixed, "points": points}
