"""The figure of `gap --vary`, and its numbers beside it."""

import csv
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from draftproof.simulators import figures
from draftproof.simulators.files import replacing, unusable
from draftproof.simulators.study.ensembles import Series
from draftproof.theory.errors import BadInput


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
    left, right = figure.subplots(1, 2)
    at = [point.at for point in series.points]
    points = [{row.name: row for row in point.summaries} for point in series.points]
    names = dict.fromkeys(name for point in reversed(points) for name in point)  # optima first
    found = {name: [point.get(name) for point in points] for name in names}
    means = {name: [row and row.mean for row in rows] for name, rows in found.items()}
    ratios = {name: [row and 100 * row.stateless for row in rows] for name, rows in found.items()}
    figures.curves(left, at, means, series.axis, "E[tau] (accepted tokens an iteration)")
    figures.curves(right, at, ratios, series.axis, "share of the stateless optimum (%)")
    if all(isinstance(place, int) for place in at):
        left.set_xticks(at)
        right.set_xticks(at)
    figure.suptitle(series.fixed, fontsize=9)
    figure.legend(*left.get_legend_handles_labels(), loc="outside right center", frameon=False)
    return figure


def document(series: Series) -> dict[str, Any]:
    """The numbers as one JSON document; means are floats of exact values."""
    points = []
    for point in series.points:
        rows = {row.name: {k: v for k, v in asdict(row).items() if k != "name"} for row in point.summaries}
        points.append({"at": point.at, "distance": point.distance, "verifiers": rows})
    return {"vary": series.what, "axis": series.axis, "fixed": series.fixed, "points": points}
