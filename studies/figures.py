"""The figures and the table of the standard study, from its results.

    draftproof sweep studies/standard.toml
    python studies/figures.py results/standard [--out docs/images]

Figures show every lossless verifier that keeps no state. Verifiers whose means agree to 1e-9 at every point
of a panel share a line, and a row of the table.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from math import inf
from pathlib import Path
from textwrap import fill
from typing import Any

from draftproof.simulators.figures import required
from draftproof.simulators.sweep.results import Results
from draftproof.theory.verifiers import VERIFIERS

NEAR = 1e-9
"""Means that differ by less are said to be equal."""

LINEAR, TICKS = 0.1, (0, 0.1, 0.3, 1, 3, 10, 30)
"""Gaps span decades: up to so many per cent their axis is linear, then logarithmic."""

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
"""Draft -> what it is called."""

OPTIMA = {"full_information": "(full-information optimum)", "stateless": "(stateless optimum)"}


@dataclass
class Mean:
    """Means over `count` instances: E[tau], the share of the stateless optimum and the least such share.

    `known` counts the instances whose optimum was found.
    """

    count: int = 0
    known: int = 0
    accepted: float = 0.0
    share: float = 0.0
    least: float = inf

    @property
    def gap(self) -> float:
        """What is missing to the stateless optimum, in per cent of it; rounding is no gap."""
        return 100 * max(0.0, 1 - self.share)


Point = dict[str, Mean]
"""Verifier, or optimum -> what it reaches."""

Means = Mapping[tuple[str, float], Point]
"""(draft, temperature) -> what was found there."""


def means(results: Results) -> Means:
    """The means of every point, shard by shard."""
    out: dict[tuple[str, float], Point] = defaultdict(lambda: defaultdict(Mean))
    keys = ["draft", "temperature", "verifier"]
    sums = ["expected_accepted", "share_stateless", *OPTIMA]
    wanted = [
        *((name, "sum") for name in sums),
        ("share_stateless", "min"),
        ("share_stateless", "count"),
        ("index", "count"),
    ]
    for table in results.tables("gap"):
        for row in table.group_by(keys).aggregate(wanted).to_pylist():
            point, count = out[row["draft"], row["temperature"]], row["index_count"]
            mean = point[row["verifier"]]
            mean.count += count
            mean.known += row["share_stateless_count"]
            mean.accepted += row["expected_accepted_sum"]
            mean.share += row["share_stateless_sum"]
            mean.least = min(mean.least, row["share_stateless_min"])
            if row["verifier"] == "nss":  # which every draft has
                for optimum, name in OPTIMA.items():
                    point[name].least = 0.0
                    point[name].count += count
                    point[name].accepted += row[f"{optimum}_sum"]
    for point in out.values():
        for mean in point.values():
            mean.accepted, mean.share = mean.accepted / mean.count, mean.share / max(1, mean.known)
    return out


def shown(found: Means, draft: str) -> list[str]:
    """The verifiers of a panel: lossless, without state, best first."""
    at = [point for key, point in found.items() if key[0] == draft]
    names = [name for name in VERIFIERS if name in at[0]]
    names = [name for name in names if VERIFIERS[name].lossless and VERIFIERS[name].carry is None]
    return sorted(names, key=lambda name: (-sum(point[name].share for point in at), name))


def merged(series: Mapping[str, list[float]]) -> dict[tuple[str, ...], list[float]]:
    """Names with equal series together, in order."""
    out: list[tuple[list[str], list[float]]] = []
    for name, values in series.items():
        for names, have in out:
            if all(abs(a - b) < NEAR for a, b in zip(have, values, strict=True)):
                names.append(name)
                break
        else:
            out.append(([name], values))
    return {tuple(names): values for names, values in out}


def temperatures(found: Means) -> Any:
    """One panel a shape on which rules differ: the gap to the stateless optimum against temperature."""
    drafts = [draft for draft in SHAPES if '"top-k"' not in draft and (draft, 1.0) in found]
    figure = required()(figsize=(12.4, 3.0 * -(-len(drafts) // 2)), layout="constrained")
    axes = figure.subplots(-(-len(drafts) // 2), 2, squeeze=False).flatten()
    for each, draft in zip(axes, drafts, strict=False):
        places = sorted(key[1] for key in found if key[0] == draft)
        points = [found[draft, place] for place in places]
        _draw(each, places, {name: [p[name].gap for p in points] for name in shown(found, draft)})
        each.set_yscale("symlog", linthresh=LINEAR)
        each.set_ylim(bottom=-LINEAR / 4)
        each.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
        each.set_yticks([], minor=True)
        each.set_xscale("log", base=2)
        each.set_xticks(places, [f"{place:g}" for place in places])
        each.set_xlabel("temperature of p and q")
        each.set_title(f"{SHAPES[draft]}: {points[0]['nss'].count:,} instances a point", fontsize=9)
    for each in axes[len(drafts) :]:
        each.set_axis_off()
    return figure


def depths(found: Means, at: list[float]) -> Any:
    """One panel a temperature: the gap to the stateless optimum against the depth of a chain."""
    drafts = {json.loads(draft)["depth"]: draft for draft in SHAPES if '"chain"' in draft}
    figure = required()(figsize=(6.8, 2.9 * len(at)), layout="constrained")
    for each, temperature in zip(figure.subplots(len(at), 1), at, strict=True):
        points = [found[draft, temperature] for draft in drafts.values()]
        names = shown(found, drafts[max(drafts)])
        _draw(each, list(drafts), {name: [point[name].gap for point in points] for name in names})
        each.set_xticks(list(drafts))
        each.set_xlabel("depth of the draft (tokens)")
        each.set_title(
            f"one path, temperature {temperature:g}: {points[0]['nss'].count:,} instances a point", fontsize=9
        )
    return figure


def _draw(axes: Any, places: list, series: Mapping[str, list[float]]) -> None:
    marks = cycle("osD^vxP*<>+1")
    for names, values in merged(series).items():
        label = fill(" = ".join(names), 34, break_long_words=False, break_on_hyphens=False)
        axes.plot(places, values, marker=next(marks), markersize=4, linewidth=1.2, label=label)
    axes.set_ylabel("gap to the stateless optimum (%)")
    axes.grid(color="0.9", linewidth=0.6)
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def table(found: Means) -> str:
    """E[tau] and the share at temperature 1, as a Markdown table."""
    lines = [
        "| draft | verifier | E[tau] | of the stateless optimum | the least of any instance | instances |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for draft, title in SHAPES.items():
        point = found.get((draft, 1.0), {})
        ranked = sorted(point, key=lambda name: (-point[name].accepted, name))
        series = {name: [point[name].accepted, point[name].share, point[name].least] for name in ranked}
        for names, (accepted, share, least) in merged(series).items():
            shares = f"{100 * share:.2f} % | {100 * least:.2f} %" if names[0] in VERIFIERS else " | "
            count = point[names[0]].count
            lines.append(f"| {title} | {', '.join(names)} | {accepted:.4f} | {shares} | {count:,} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Results, metavar="RESULTS")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    found = means(arguments.results)
    for name, figure in (
        ("study-temperature", temperatures(found)),
        ("study-depth", depths(found, [0.5, 1.0, 2.0])),
    ):
        figure.savefig(arguments.out / f"{name}.svg", metadata={"Date": None})
        figure.savefig(arguments.out / f"{name}.png", dpi=90)
    print(f"commit {arguments.results.manifest['commit']}\n{table(found)}")


if __name__ == "__main__":
    main()
