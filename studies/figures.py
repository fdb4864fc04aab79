"""The figures and the table of the standard study, from its results.

    draftproof sweep studies/standard.toml
    draftproof sweep studies/ordered.toml
    python studies/figures.py results/standard results/ordered [--out docs/images]

Every lossless verifier that keeps no state, with the number of instances its means are over; where it was
measured more than once, the most. Verifiers whose means agree to 1e-9 at every point of a panel share a line.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from textwrap import fill
from typing import Any

from simulators.figures import required
from simulators.sweep.results import Results
from theory.verifiers import VERIFIERS


@dataclass(frozen=True)
class Mean:
    """Mean E[tau] over `count` instances, mean share of the stateless optimum over `shared`."""

    accepted: float = 0.0
    count: int = 0
    share: float = 0.0
    shared: int = 0


Means = dict[tuple[str, float], dict[str, Mean]]
"""(draft, temperature) -> verifier -> what it reached."""

SHAPES = {
    '{"kind": "chain", "depth": 1}': "one path, depth 1",
    '{"kind": "chain", "depth": 2}': "one path, depth 2",
    '{"kind": "chain", "depth": 3}': "one path, depth 3",
    '{"kind": "chain", "depth": 4}': "one path, depth 4",
    '{"kind": "tree", "shape": [[], []], "replacement": false}': "two siblings, depth 1",
    '{"kind": "tree", "shape": [[[]], [[]]], "replacement": false}': "siblings with a child each, depth 2",
    '{"kind": "paths", "count": 2, "depth": 2}': "two independent paths, depth 2",
}

STYLES = {10_000: "-", 500: "--", 0: ":"}
"""At least so many instances a point -> how the line is drawn."""


def means(folders: Sequence[Results]) -> Means:
    """The means of every point; where a verifier was measured more than once, over the most instances."""
    out: Means = defaultdict(dict)
    for results in folders:
        for (draft, temperature, name, _), (mean, share, count, shared) in sorted(_sums(results).items()):
            known = out[draft, temperature].get(name, Mean())
            if count > known.count:
                known = replace(known, accepted=mean / count, count=int(count))
            if shared > known.shared:
                known = replace(known, share=share / shared, shared=int(shared))
            out[draft, temperature][name] = known
    return out


def _sums(results: Results) -> dict[tuple[str, float, str, str], list[float]]:
    sums: dict[tuple[str, float, str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0, 0])
    keys = ["draft", "temperature", "verifier", "engine"]
    for table in results.tables("gap"):
        grouped = table.group_by(keys).aggregate(
            [
                ("expected_accepted", "sum"),
                ("share_stateless", "sum"),
                ("index", "count"),
                ("share_stateless", "count"),
            ]
        )
        for row in grouped.to_pylist():
            into = sums[tuple(row[key] for key in keys)]  # type: ignore[index]
            into[0] += row["expected_accepted_sum"]
            into[1] += row["share_stateless_sum"] or 0.0
            into[2] += row["index_count"]
            into[3] += row["share_stateless_count"]
    return sums


def shown(found: Means, draft: str) -> list[str]:
    """The verifiers of a panel: lossless, without state, best first."""
    at = [point for key, point in found.items() if key[0] == draft]
    names = [name for name in at[0] if VERIFIERS[name].lossless and VERIFIERS[name].carry is None]
    return sorted(names, key=lambda name: (-sum(point[name].share for point in at), name))


def merged(series: dict[str, list[float]]) -> dict[str, list[float]]:
    """Names with equal series joined, in order."""
    out: list[tuple[list[str], list[float]]] = []
    for name, values in series.items():
        twin = next((names for names, have in out if max(map(_apart, have, values)) < 1e-9), None)
        if twin is None:
            out.append(([name], values))
        else:
            twin.append(name)
    return {" = ".join(names): values for names, values in out}


def panels(found: Means, drafts: list[str], axis: str, columns: int) -> Any:
    """One panel a shape: shares of the stateless optimum against temperature."""
    figure = required()(figsize=(6.2 * columns, 3.0 * -(-len(drafts) // columns)), layout="constrained")
    axes = figure.subplots(-(-len(drafts) // columns), columns, squeeze=False).flatten()
    for each, draft in zip(axes, drafts, strict=False):
        places = sorted(key[1] for key in found if key[0] == draft)
        points = [found[draft, place] for place in places]
        lines = merged({name: [100 * p[name].share for p in points] for name in shown(found, draft)})
        _draw(each, places, lines, _fewest(points))
        each.set_xscale("log", base=2)
        each.set_xticks(places, [f"{place:g}" for place in places])
        each.set_xlabel(axis)
        each.set_title(SHAPES[draft], fontsize=9)
    for each in axes[len(drafts) :]:
        each.set_axis_off()
    return figure


def depths(found: Means, temperatures: list[float]) -> Any:
    """One panel a temperature: shares of the stateless optimum against the depth of a chain."""
    drafts = [draft for draft in SHAPES if json.loads(draft)["kind"] == "chain"]
    figure = required()(figsize=(6.8, 2.9 * len(temperatures)), layout="constrained")
    for each, temperature in zip(figure.subplots(len(temperatures), 1), temperatures, strict=True):
        points = [found[draft, temperature] for draft in drafts]
        names = [name for name in shown(found, drafts[-1]) if all(name in point for point in points)]
        lines = merged({name: [100 * point[name].share for point in points] for name in names})
        _draw(each, [1, 2, 3, 4], lines, _fewest(points))
        each.set_xticks([1, 2, 3, 4])
        each.set_xlabel("depth of the draft (tokens)")
        each.set_title(f"one path, temperature {temperature:g}", fontsize=9)
    return figure


def _fewest(points: list[dict[str, Mean]]) -> dict[str, int]:
    return {name: min(point[name].shared for point in points if name in point) for name in points[0]}


def _draw(axes: Any, places: list, lines: dict[str, list[float]], counts: dict[str, int]) -> None:
    marks = cycle("osD^vxP*<>+1")
    for label, values in lines.items():
        over = sorted({counts[name] for name in label.split(" = ")})
        said = f"{label}: {' to '.join(f'{count:,}' for count in dict.fromkeys((over[0], over[-1])))}"
        axes.plot(
            places,
            values,
            linestyle=next(style for least, style in STYLES.items() if over[-1] >= least),
            marker=next(marks),
            markersize=4,
            linewidth=1.2,
            label=fill(said, 34, break_long_words=False, break_on_hyphens=False),
        )
    axes.set_ylabel("share of the stateless optimum (%)")
    axes.grid(color="0.9", linewidth=0.6)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def table(found: Means) -> str:
    """E[tau] and the share at temperature 1, as a Markdown table."""
    lines = [
        "| draft | verifier | E[tau] | over | of the stateless optimum | over |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for draft, title in SHAPES.items():
        point = found[draft, 1.0]
        for name in sorted(point, key=lambda name: -point[name].share):
            mean = point[name]
            numbers = f"{mean.accepted:.4f} | {mean.count:,} | {100 * mean.share:.2f} % | {mean.shared:,}"
            lines.append(f"| {title} | {name} | {numbers} |")
    return "\n".join(lines)


def _apart(a: float, b: float) -> float:
    return abs(a - b)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Results, metavar="RESULTS")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    found = means(arguments.folders)
    for name, figure in (
        ("study-temperature", panels(found, list(SHAPES), "temperature of p and q", 2)),
        ("study-depth", depths(found, [0.5, 1.0, 2.0])),
    ):
        figure.savefig(arguments.out / f"{name}.svg", metadata={"Date": None})
        figure.savefig(arguments.out / f"{name}.png", dpi=90)
    commits = [results.manifest["commit"] for results in arguments.folders]
    print(f"commits {', '.join(map(str, commits))}\n{table(found)}")


if __name__ == "__main__":
    main()
