"""The figures and the table of the standard study, from its results.

    draftproof sweep studies/standard.toml
    python studies/figures.py results/standard --out figures

The images of docs/standard-study.md are of studies/figures.toml, in docs/images.

A figure shows the chosen rules, with 95 % intervals of the mean; the table has all. Verifiers whose means
agree to 1e-9 share a row of the table.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from draftproof.simulators.study.results import Results
from draftproof.theory.verifiers import VERIFIERS
from studies import drawing

NEAR = 1e-9
"""Means that differ by less are equal."""

LINEAR, TICKS = 0.1, (0, 0.1, 0.3, 1, 3, 10, 30, 100)
"""Gaps span decades: the axis is linear up to this percentage, then logarithmic."""

SHAPES = {
    '{"kind": "chain", "depth": 1}': "one path, depth 1",
    '{"kind": "chain", "depth": 2}': "one path, depth 2",
    '{"kind": "chain", "depth": 3}': "one path, depth 3",
    '{"kind": "chain", "depth": 4}': "one path, depth 4",
    '{"kind": "tree", "shape": [[], []], "replacement": false}': "two siblings",
    '{"kind": "tree", "shape": [[[]], [[]]], "replacement": false}': "two siblings with a child each",
    '{"kind": "tree", "shape": [[], []], "replacement": true}': "two i.i.d. siblings",
    '{"kind": "tree", "shape": [[[]], [[]]], "replacement": true}': "two i.i.d. siblings with a child each",
    '{"kind": "paths", "count": 2, "depth": 2}': "two i.i.d. paths, depth 2, merged",
    '{"kind": "spechub", "depth": 1}': "SpecHub's pair",
    '{"kind": "greedy", "shape": [[], []]}': "likeliest token and a sample",
    '{"kind": "top-k", "shape": [[], []]}': "two likeliest tokens",
}
"""Draft -> its title."""

RULES = {
    "token, rrs, specinfer": ("token", "rrs", "specinfer"),
    "traversal, block": ("traversal",),
    "layered": ("layered",),
    "lifted": ("lifted",),
    "khisti": ("khisti",),
    "gls": ("gls",),
    "nss": ("nss",),
}
"""The rules in the figures: label -> names, of which the first one that is made for the draft is drawn."""

PANELS = {
    "one-level": ("one path, depth 1", "two siblings", "two i.i.d. siblings"),
    "two-levels": (
        "one path, depth 2",
        "two siblings with a child each",
        "two i.i.d. siblings with a child each",
        "two i.i.d. paths, depth 2, merged",
    ),
}
"""Figure -> the titles of its panels."""

OPTIMA = {"(full-information optimum)": "full_information", "(stateless optimum)": "stateless"}

Means = Mapping[tuple[str, float], dict[str, dict[str, float]]]
"""(draft, temperature) -> verifier or optimum -> means over `count` instances: E[tau] (`accepted`), and its
ratio to the stateless optimum (`share`) with its interval's half-width (`half`) and the least of any instance
(`least`)."""


def means(results: Results) -> Means:
    """The means of every point."""
    out: dict[tuple[str, float], dict[str, dict[str, float]]] = {}
    for row in results.rows("""
        select draft, temperature, verifier, count(*) as count, avg(expected_accepted) as accepted,
               avg(share_stateless) as share, min(share_stateless) as least,
               1.96 * stddev_samp(share_stateless) / sqrt(count(*)) as half,
               avg(full_information) as full_information, avg(stateless) as stateless
        from gap group by all order by all
    """):
        point = out.setdefault((row["draft"], row["temperature"]), {})
        point[row["verifier"]] = row
        for name, optimum in OPTIMA.items():
            point[name] = {"count": row["count"], "accepted": row[optimum], "share": 0.0, "least": 0.0}
    return out


def merged(series: Mapping[str, list[float]]) -> dict[tuple[str, ...], list[float]]:
    """Names of equal series, grouped -> their series, in order."""
    out: list[tuple[list[str], list[float]]] = []
    for name, values in series.items():
        for names, have in out:
            if all(abs(a - b) < NEAR for a, b in zip(have, values, strict=True)):
                names.append(name)
                break
        else:
            out.append(([name], values))
    return {tuple(names): values for names, values in out}


def draw(axes: Any, title: str, at: list[float], points: Sequence[dict], x: str, wide: int) -> None:
    """Draws a panel: the chosen rules' gaps to the stateless optimum in percent, with intervals. The rules
    without a gap are named, in lines of `wide` letters.
    """
    gaps: dict[str, list[float | None]] = {}
    bars: dict[str, list[float]] = {}
    valid = []
    for label, names in RULES.items():
        name = next((name for name in names if name in points[0]), None)
        rows = [point[name] for point in points] if name else []
        gaps[label] = [100 * (1 - row["share"]) for row in rows] or [None] * len(at)
        bars[label] = [100 * row["half"] for row in rows]
        if name and all(gap is not None and gap < 100 * NEAR for gap in gaps[label]):
            valid += [each for each in label.split(", ") if each in points[0]]
            gaps[label], bars[label] = [None] * len(at), []
    drawing.curves(axes, at, gaps, x, "gap (%)", bars)
    axes.set_xticks(at, [f"{place:g}" for place in at])
    axes.set_yscale("symlog", linthresh=LINEAR)
    axes.set_ylim(-LINEAR / 2, 100)
    axes.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.set_yticks([], minor=True)
    axes.set_title(title, fontsize=10)
    if valid:
        said = fill(f"at the optimum: {', '.join(valid)}", wide)
        axes.text(0.5, 0.03, said, transform=axes.transAxes, ha="center")


def panels(count: int) -> tuple[Any, Any]:
    """A figure with so many panels, and the panels."""
    rows = 1 if count < 4 else 2
    figure = drawing.required()(figsize=(7.6, 0.6 + 3.0 * rows), layout="constrained")
    return figure, figure.subplots(rows, count // rows, sharey=True).flatten()


def legend(figure: Any, axes: Any) -> None:
    """Puts one legend below all panels, and the labels of axes at the figure's left and lower sides."""
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=10)
    for each in axes:
        each.label_outer()


def temperatures(found: Means, titles: Sequence[str]) -> Any:
    """The gap against temperature, one panel a draft."""
    figure, axes = panels(len(titles))
    drafts, wide = {title: draft for draft, title in SHAPES.items()}, 54 if len(titles) > 3 else 28
    for each, title in zip(axes, titles, strict=True):
        at = sorted(key[1] for key in found if key[0] == drafts[title])
        each.set_xscale("log", base=2)
        draw(each, title, at, [found[drafts[title], place] for place in at], "temperature", wide)
    legend(figure, axes)
    return figure


def depths(found: Means, at: list[float]) -> Any:
    """The gap against the depth of a chain, one panel a temperature."""
    drafts = {json.loads(draft)["depth"]: draft for draft in SHAPES if '"chain"' in draft}
    figure, axes = panels(len(at))
    for each, temperature in zip(axes, at, strict=True):
        points = [found[draft, temperature] for draft in drafts.values()]
        draw(each, f"temperature {temperature:g}", list(drafts), points, "depth of one path", 28)
    legend(figure, axes)
    return figure


def table(found: Means) -> str:
    """E[tau] and the ratio at temperature 1, as a Markdown table."""
    lines = [
        "| draft | verifier | E[tau] | of the stateless optimum | the least of any instance | instances |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for draft, title in SHAPES.items():
        point = found.get((draft, 1.0), {})
        ranked = sorted(point, key=lambda name: (-point[name]["accepted"], name))
        series = {name: [point[name][key] for key in ("accepted", "share", "least")] for name in ranked}
        for names, (accepted, share, least) in merged(series).items():
            ratios = f"{100 * share:.2f} % | {100 * least:.2f} %" if names[0] in VERIFIERS else " | "
            count = point[names[0]]["count"]
            lines.append(f"| {title} | {', '.join(names)} | {accepted:.4f} | {ratios} | {count:,} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Results, metavar="RESULTS")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    found = means(arguments.results)
    for name, titles in PANELS.items():
        drawing.write(temperatures(found, titles), arguments.out / f"study-{name}", dpi=90)
    drawing.write(depths(found, [0.5, 1.0, 2.0]), arguments.out / "study-depth", dpi=90)
    print(f"sources {arguments.results.manifest['sources']['draftproof'][:12]}\n{table(found)}")


if __name__ == "__main__":
    main()
