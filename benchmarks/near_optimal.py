"""How near the priority rule comes to the stateless optimum, on exact instances.

    python benchmarks/near_optimal.py --count 200 [--figure docs/images]

Random instances of `Mixed` rows, V = 3, 4, 5 in turn: two children (pair), two children with a child each
(two paths) and binary trees of depth 2. With i.i.d. siblings and with siblings without replacement the share
of Traversal Verification's distance to the stateless optimum that a verifier closes; with strata, which
traversal is not made for, E[tau] over the stateless optimum of the same draft. E[tau] is exact, optima
are certified. The figure has the 10 %, 50 % and 90 % quantiles and the mean of the shares of the distance.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from draftproof.simulators.instances.randoms import Mixed, Randoms
from draftproof.simulators.laws.optimum import stateless
from draftproof.simulators.study.gap import expected
from draftproof.simulators.support import figures
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.verifiers import named

SHAPES = {"pair": every(2, 1), "two paths": (((),), ((),)), "binary": every(2, 2)}
IID = "traversal", "priority", "lifted-priority", "lifted-split", "lifted-levelled", "lifted", "layered"
WITHOUT = "traversal", "rrs", "lifted-without", "lifted", "layered"
STRATA = "nss", "priority", "lifted-priority", "lifted-levelled"
OPEN = 1e-7
"""Distances below this count as none; the certified errors are smaller."""


def measured(draft: Tree | Stratified, names: tuple[str, ...], count: int) -> np.ndarray:
    """E[tau] of the verifiers and, in the last column, the stateless optimum: one row an instance."""
    families = [Randoms(draft, vocab, count, law=Mixed()) for vocab in (3, 4, 5)]
    rows = []
    for number in range(count):
        instance = families[number % 3][number]
        means = [float(expected(instance, named(name))) for name in names]
        rows.append([*means, stateless(instance).value])
    return np.array(rows)


def of_the_distance(values: np.ndarray, names: tuple[str, ...]) -> list[list[object]]:
    """The distribution of the share of the first column's distance to the last that each column closes."""
    gap = values[:, -1] - values[:, 0]
    some = gap > OPEN
    out: list[list[object]] = []
    for name, found in zip(names, values.T, strict=False):
        closed = (found - values[:, 0])[some] / gap[some]
        below = int((found < values[:, 0] - 1e-9).sum())
        out.append([name, round(float(found.mean()), 4), *spread(closed), below])
    return [*out, ["stateless optimum", round(float(values[:, -1].mean()), 4), *[None] * 6]]


def of_the_optimum(values: np.ndarray) -> list[list[object]]:
    """The distribution of each column over the last."""
    some, best = values[:, -1] > OPEN, values[:, -1]
    out: list[list[object]] = [
        [name, round(float(found.mean()), 4), *spread(found[some] / best[some])]
        for name, found in zip(STRATA, values.T, strict=False)
    ]
    return [*out, ["stateless optimum", round(float(best.mean()), 4), *[None] * 5]]


def spread(shares: np.ndarray) -> list[float]:
    """The mean, the least, and the 10 %, 50 % and 90 % quantiles."""
    return [round(float(x), 3) for x in (shares.mean(), shares.min(), *np.quantile(shares, [0.1, 0.5, 0.9]))]


def drawn(tables: list[dict], folder: Path) -> None:
    """near-optimal.svg and .png: a panel for each table, a line for each verifier."""
    figure = figures.required()(figsize=(8.4, 4.6), layout="constrained")
    panels = figure.subplots(
        2, len(SHAPES), sharex=True, gridspec_kw={"height_ratios": [len(IID), len(WITHOUT)]}
    )
    for at, table in enumerate(tables):
        axes, rows = panels[at % 2][at // 2], table["rows"][1:-1][::-1]
        for place, (_, _, mean, _, low, median, high, _) in enumerate(rows):
            axes.plot([low, high], [place] * 2, color=figures.COLOURS[0], linewidth=3, alpha=0.4)
            axes.plot(median, place, "o", color=figures.COLOURS[0], markersize=5)
            axes.plot(mean, place, "x", color=figures.COLOURS[1], markersize=5)
        axes.set_yticks(range(len(rows)), [row[0] for row in rows] if at < 2 else [""] * len(rows))
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.axvline(0, color="0.6", linewidth=0.8)
        axes.grid(axis="x", color="0.9", linewidth=0.6)
        axes.set_title(table["caption"].partition(":")[0], fontsize=8.5)
    figure.supxlabel(
        "share of traversal's distance closed: 10 to 90 %, median (dot), mean (cross)", fontsize=9
    )
    figures.write(figure, folder / "near-optimal", 110)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    tables = []
    for name, shape in SHAPES.items():
        start = time.process_time()
        iid = measured(Tree(shape, True), IID, options.count)
        without = measured(Tree(shape), WITHOUT, options.count)
        strata = measured(Stratified(shape), STRATA, options.count)
        seconds = f"{options.count} instances, {time.process_time() - start:.0f} s"
        heads = ["mean", "least", "p10", "median", "p90"]
        for siblings, values, names in (("i.i.d.", iid, IID), ("without replacement", without, WITHOUT)):
            tables.append(
                {
                    "caption": f"{name}, siblings {siblings}: share of traversal's distance closed, "
                    + seconds,
                    "columns": ["verifier", "E[tau]", *heads, "below traversal"],
                    "rows": of_the_distance(values, names),
                }
            )
        tables.append(
            {
                "caption": f"{name}, stratified siblings: E[tau] over the stateless optimum",
                "columns": ["verifier", "E[tau]", *heads],
                "rows": of_the_optimum(strata),
            }
        )
    print(json.dumps({"tables": tables}, indent=2))
    if options.figure:
        drawn([table for table in tables if "closed" in table["caption"]], options.figure)


if __name__ == "__main__":
    main()
