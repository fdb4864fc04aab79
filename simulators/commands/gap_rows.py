"""What `gap --rows` prints and draws."""

import json
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from draftproof.simulators import screen
from draftproof.simulators.study.designs import SIBLINGS
from draftproof.simulators.study.recorded import Accepted, Recorded, measured
from draftproof.simulators.support import figures

FOUR = SIBLINGS.index(4)
NOTE = "No verifier exceeds a design's optimum or bound; of top-k and greedy drafts the verifier reaches it."


def rows(path: Path, count: int | None, out: Path | None, as_json: bool) -> int:
    """Reads the file, prints the table or the document, and writes the figure into `out`."""
    if out is not None:
        figures.required()  # a missing matplotlib is reported before the work
    recorded = Recorded(path)
    chosen = recorded.chosen(count)
    n, sequences = len(chosen), len(set(recorded.sequence[chosen].tolist()))
    with screen.progress("rows") as bar:
        task = bar.add_task("measuring", total=n)
        found = measured(recorded, count, lambda: bar.advance(task))
    written = [] if out is None else drawn(found, out)
    if as_json:
        click.echo(json.dumps(document(found, recorded, n, sequences)))
        return 0
    screen.console().print(
        table(found, f"{n:,} rows of {recorded.shape[1]:,} tokens, {sequences:,} sequences")
    )
    rules = [each for each in found if each.column.attained]
    best = max(rules, key=lambda each: each.mean[FOUR])
    click.echo(f"best at K = 4: {best.column.design}, {best.column.verifier}, {best.mean[FOUR]:.4f}")
    if written:
        click.echo(f"written: {', '.join(map(str, written))}")
    return 0


def table(found: list[Accepted], title: str) -> Table:
    """A line for each design and verifier, a column for each number of siblings."""
    counts = [f"K = {k}" for k in SIBLINGS]
    made = screen.table(title, "ll" + "r" * len(counts) + "r", "draft", "verifier", *counts, "+-")
    for each in found:
        widest = max((half for half in each.half_width if half is not None), default=None)
        style = "" if each.column.attained else "dim"
        cells = [f"{mean:.4f}" for mean in each.mean]
        made.add_row(
            each.column.design, each.column.verifier, *cells, f"{widest:.4f}" if widest else "", style=style
        )
    made.caption = f"Acceptance of a node; +- is the widest 95 % interval's half. {NOTE}"
    return made


def document(found: list[Accepted], recorded: Recorded, n: int, sequences: int) -> dict[str, Any]:
    """The JSON answer; the numbers are floats."""
    acceptance = [
        {"draft": each.column.design, "verifier": each.column.verifier, "kind": each.column.kind}
        | {"mean": each.mean, "half_width": each.half_width}
        for each in found
    ]
    about = {"rows": n, "vocab": recorded.shape[1], "sequences": sequences, "siblings": list(SIBLINGS)}
    return {**about, "acceptance": acceptance}


def drawn(found: list[Accepted], folder: Path) -> list[Path]:
    """Writes gap-siblings.svg and .png."""
    figure = figures.required()(figsize=(8.6, 4.4), layout="constrained")
    axes = figure.subplots()
    series = {
        f"{each.column.design}, {each.column.verifier}": [
            1 - mean if mean < 1 else None for mean in each.mean
        ]
        for each in found
    }
    figures.curves(axes, SIBLINGS, series, "siblings K", "probability that no sibling is accepted")
    for line, each in zip(axes.get_lines(), found, strict=True):
        if not each.column.attained:
            line.set(color="0.6", marker="", zorder=1)
    axes.set_xscale("log", base=2)
    axes.set_xticks(SIBLINGS, map(str, SIBLINGS))
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    ticks = [step * 10.0**-place for place in range(9) for step in (1, 2, 5)]
    axes.set_yticks(shown := [each for each in ticks if low <= each <= high], [f"{each:g}" for each in shown])
    axes.set_yticks([], minor=True)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figures.write(figure, folder / "gap-siblings", 150)
