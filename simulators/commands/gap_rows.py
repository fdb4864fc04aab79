"""What `gap --rows` prints."""

import json
from pathlib import Path

import click
from rich.table import Table

from draftproof.simulators import screen
from draftproof.simulators.study.designs import SIBLINGS
from draftproof.simulators.study.recorded import Accepted, Recorded, measured

FOUR = SIBLINGS.index(4)
NOTE = "No verifier exceeds a design's optimum or bound; of top-k and greedy drafts the verifier reaches it."


def rows(path: Path, count: int | None, as_json: bool) -> int:
    """Reads the file and prints the table or the document."""
    recorded = Recorded(path)
    chosen = recorded.chosen(count)
    n, sequences = len(chosen), len(set(recorded.sequence[chosen].tolist()))
    with screen.progress("rows") as bar:
        task = bar.add_task("measuring", total=n)
        found = measured(recorded, count, lambda: bar.advance(task))
    if as_json:
        acceptance = [
            {"draft": each.column.design, "verifier": each.column.verifier, "kind": each.column.kind}
            | {"mean": each.mean, "half_width": each.half_width}
            for each in found
        ]
        about = {"rows": n, "vocab": recorded.shape[1], "sequences": sequences, "siblings": list(SIBLINGS)}
        click.echo(json.dumps({**about, "acceptance": acceptance}))
        return 0
    screen.console().print(
        table(found, f"{n:,} rows of {recorded.shape[1]:,} tokens, {sequences:,} sequences")
    )
    rules = [each for each in found if each.column.attained]
    best = max(rules, key=lambda each: each.mean[FOUR])
    click.echo(f"best at K = 4: {best.column.design}, {best.column.verifier}, {best.mean[FOUR]:.4f}")
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
