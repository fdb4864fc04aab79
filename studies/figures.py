"""The figures and the table of the standard study, from its results.

    draftproof sweep studies/standard.toml
    python studies/figures.py results/standard [--out docs/images]

Figures show every lossless verifier that keeps no state. Verifiers whose means agree to 1e-9 at every point
of a panel share a line, and a row of the table.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

from draftproof.simulators import figures
from draftproof.simulators.study.results import Results
from draftproof.theory.verifiers import VERIFIERS

NEAR = 1e-9
"""Means that differ by less are equal."""

LINEAR, TICKS = 0.1, (0, 0.1, 0.3, 1, 3, 10, 30)
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

OPTIMA = {"(full-information optimum)": "full_information", "(stateless optimum)": "stateless"}

Means = Mapping[tuple[str, float], dict[str, dict[str, float]]]
"""(draft, temperature) -> verifier or optimum -> means over `count` instances: E[tau] (`accepted`), and its
ratio to the stateless optimum (`share`) with the least of any instance (`least`)."""


def means(results: Results) -> Means:
    """The means of every point."""
    out: dict[tuple[str, float], dict[str, dict[str, float]]] = {}
    for row in results.rows("""
        select draft, temperature, verifier, count(*) as count, avg(expected_accepted) as accepted,
               avg(share_stateless) as share, min(share_stateless) as least,
               avg(full_information) as full_information, avg(stateless) as stateless
        from gap group by all order by all
    """):
        point = out.setdefault((row["draft"], row["temperature"]), {})
        point[row["verifier"]] = row
        for name, optimum in OPTIMA.items():
            point[name] = {"count": row["count"], "accepted": row[optimum], "share": 0.0, "least": 0.0}
    return out


def shown(found: Means, draft: str) -> list[str]:
    """The verifiers of a panel: lossless, without state, best first."""
    at = [point for key, point in found.items() if key[0] == draft]
    names = [
        name for name, rule in VERIFIERS.items() if rule.lossless and rule.carry is None and name in at[0]
    ]
    return sorted(names, key=lambda name: (-sum(point[name]["share"] for point in at), name))


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


def draw(axes: Any, title: str, at: list[float], points: list[dict], names: list[str], x: str) -> None:
    """Draws a panel: each verifier's gap to the stateless optimum; gaps from rounding count as zero."""
    gaps = {name: [100 * max(0.0, 1 - point[name]["share"]) for point in points] for name in names}
    labels = {
        fill(" = ".join(equal), 34, break_long_words=False, break_on_hyphens=False): values
        for equal, values in merged(gaps).items()
    }
    figures.curves(axes, at, labels, x, "gap to the stateless optimum (%)")
    axes.set_xticks(at, [f"{place:g}" for place in at])
    axes.set_title(f"{title}: {points[0]['nss']['count']:,} instances a point", fontsize=9)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def temperatures(found: Means) -> Any:
    """One panel per shape on which rules differ: the gap against temperature."""
    drafts = [draft for draft in SHAPES if '"top-k"' not in draft and (draft, 1.0) in found]
    rows = -(-len(drafts) // 2)
    figure = figures.required()(figsize=(12.4, 3.0 * rows), layout="constrained")
    axes = figure.subplots(rows, 2, squeeze=False).flatten()
    for each, draft in zip(axes, drafts, strict=False):
        at = sorted(key[1] for key in found if key[0] == draft)
        each.set_xscale("log", base=2)
        points = [found[draft, place] for place in at]
        draw(each, SHAPES[draft], at, points, shown(found, draft), "temperature of p and q")
        each.set_yscale("symlog", linthresh=LINEAR)
        each.set_ylim(bottom=-LINEAR / 4)
        each.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
        each.set_yticks([], minor=True)
    for each in axes[len(drafts) :]:
        each.set_axis_off()
    return figure


def depths(found: Means, at: list[float]) -> Any:
    """One panel per temperature: the gap against the depth of a chain."""
    drafts = {json.loads(draft)["depth"]: draft for draft in SHAPES if '"chain"' in draft}
    figure = figures.required()(figsize=(6.8, 2.9 * len(at)), layout="constrained")
    for each, temperature in zip(figure.subplots(len(at), 1), at, strict=True):
        points = [found[draft, temperature] for draft in drafts.values()]
        title, names = f"one path, temperature {temperature:g}", shown(found, drafts[max(drafts)])
        draw(each, title, list(drafts), points, names, "depth of the draft (tokens)")
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
    figures.write(temperatures(found), arguments.out / "study-temperature", dpi=90)
    figures.write(depths(found, [0.5, 1.0, 2.0]), arguments.out / "study-depth", dpi=90)
    print(f"commit {arguments.results.manifest['commit']}\n{table(found)}")


if __name__ == "__main__":
    main()
