"""The command `sweep`."""

import json
from pathlib import Path
from time import monotonic
from typing import Any

import click
from rich.table import Table

from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.simulators.commands.options import PATH, json_option
from draftproof.simulators.support.pool import cores
from draftproof.theory.errors import extra, located


@click.command()
@click.argument("file", type=PATH, metavar="FILE.toml")
@click.option(
    "--results", "folder", type=PATH, metavar="DIR", help="Folder of the results [default: results/FILE]."
)
@click.option(
    "--workers", type=click.IntRange(1), metavar="N", help="Number of processes [default: one per core]."
)
@click.option("--scheduler", metavar="URL", help="Use a Dask cluster, such as tcp://host:8786.")
@json_option
def sweep(file: Path, folder: Path | None, workers: int | None, scheduler: str | None, as_json: bool) -> int:
    """Check and gap over many instances.

    FILE.toml has [[family]] tables, whose keys are metrics, verifiers, drafts, vocabularies, rows, seeds
    and optima; results are Parquet files in a folder. After an interruption the same command continues
    the sweep. Exit status 0, or 2 for bad input.
    """
    folder = folder or Path("results") / file.stem
    with extra("sweep"):
        from draftproof.simulators.study import configuration, store
        from draftproof.simulators.study.plan import plan
        from draftproof.simulators.study.results import Results
    entries = configuration.read(file)
    with located(file):
        chunks = plan(entries)
    started = monotonic()
    found = store.sweep(entries, chunks, folder, scheduler or workers or cores(), None)
    seconds = round(monotonic() - started, 3)
    if found.interrupted:
        kept = f"{found.kept + found.computed:,} of {found.chunks:,} chunks are kept in {folder}"
        click.echo(f"interrupted: {kept}; the same command continues from there", err=True)
        return INTERRUPTED
    lines = Results(folder).summary()
    rows = sum(line["rows"] for line in lines)
    if as_json:
        answer = {"results": str(folder), "chunks": found.chunks, "computed": found.computed, "rows": rows}
        answer |= {"evaluations": found.evaluations}
        click.echo(json.dumps({**answer, "seconds": seconds, "summary": lines}))
        return 0
    for metric in dict.fromkeys(line["metric"] for line in lines):
        screen.console().print(_table(metric, [line for line in lines if line["metric"] == metric]))
    for said in screen.unseen((line["name"], line.get("not_shown", "")) for line in lines):
        screen.say(said)
    before = f"{found.kept:,} of them kept from before, " if found.kept else ""
    screen.say(f"rows: {rows:,}; chunks: {found.chunks:,}, {before}{seconds:.1f} s; results are in {folder}")
    return 0


COLUMNS = {
    "largest TV": ("total_variation", "largest", "{:.3g}"),
    r"mean E\[tau]": ("expected_accepted", "mean", "{:.4f}"),
    "of stateless": ("share_stateless", "mean", "{:.2%}"),
    "least": ("share_stateless", "least", "{:.2%}"),
}
"""Heading -> the column of results, its statistic, and the format it is printed in."""


def _table(metric: str, lines: list[dict[str, Any]]) -> Table:
    columns = {name: each for name, each in COLUMNS.items() if any(each[0] in line for line in lines)}
    judged = ["verdicts"] * ("verdicts" in lines[0])
    sides = "llr" + "l" * len(judged) + "r" * len(columns)
    table = screen.table(f"Swept: {metric}", sides, "verifier", "draft", "rows", *judged, *columns)
    for line in lines:
        verdicts = ", ".join(f"{count:,} {word}" for word, count in sorted(line.get("verdicts", {}).items()))
        numbers = [
            shown.format(line[column][statistic]) if column in line else ""
            for column, statistic, shown in columns.values()
        ]
        table.add_row(line["name"], line["kind"], f"{line['rows']:,}", *[verdicts] * len(judged), *numbers)
    return table
