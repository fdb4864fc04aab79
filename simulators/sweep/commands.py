"""The command `sweep`."""

import json
from collections.abc import Mapping
from math import isnan
from pathlib import Path
from time import monotonic
from typing import Any

import click
from rich.table import Table

from draftproof.simulators import screen
from draftproof.simulators.check import cores
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.simulators.commands.options import json_option
from draftproof.theory.errors import BadInput


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.toml")
@click.option(
    "--results",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the results are, or go [default: results/FILE].",
)
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes [default: one a core].")
@click.option("--scheduler", metavar="URL", help="A Dask cluster, such as tcp://host:8786.")
@click.option("--ray", "on_ray", is_flag=True, help="Ray: the cluster of RAY_ADDRESS, else this machine.")
@json_option
@click.pass_obj
def sweep(others: Mapping[str, Any], **options: Any) -> int:
    """Check, gap, prove and audit over a described family of instances.

    FILE.toml says what is swept (docs/sweep.md); results are Parquet files in a folder
    (docs/results.md). The same command goes on where it was interrupted. Exit status 0, or 2
    for bad input.
    """
    return _sweep(others["metrics"], **options)


def _sweep(
    proofs: Mapping[str, str],
    file: Path,
    folder: Path | None,
    workers: int | None,
    scheduler: str | None,
    on_ray: bool,
    as_json: bool,
) -> int:
    folder = folder or Path("results") / file.stem
    if sum((workers is not None, scheduler is not None, on_ray)) > 1:
        raise BadInput("--workers, --scheduler and --ray exclude each other")
    try:
        from draftproof.simulators.sweep import configuration, runners
        from draftproof.simulators.sweep.manifest import manifest
        from draftproof.simulators.sweep.plan import METRICS, plan
        from draftproof.simulators.sweep.results import Results
        from draftproof.simulators.sweep.summary import summary
        from draftproof.simulators.sweep.sweep import sweep
    except ImportError as error:
        raise BadInput(f"sweep needs {error.name}: pip install 'draftproof[sweep]'") from None
    metrics = {**METRICS, **proofs}
    entries = configuration.read(file, metrics)
    try:
        chunks = plan(entries, metrics)
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from None
    runner = runners.processes(workers or cores())
    if scheduler is not None:
        runner = runners.dask(scheduler)
    elif on_ray:
        runner = runners.ray()
    started = monotonic()
    with screen.progress("evaluations") as bar:
        task = bar.add_task("sweeping", total=None)

        def begin(everything: int, kept: int) -> None:
            bar.update(task, total=everything, completed=kept)

        def advance(evaluations: int) -> None:
            bar.advance(task, evaluations)

        found = sweep(chunks, manifest(entries, len(chunks)), folder, runner, begin, advance)
    seconds = round(monotonic() - started, 3)
    if found.interrupted:
        click.echo(
            f"interrupted: {found.finished:,} of {found.chunks:,} chunks are kept in {folder}; "
            "the same command goes on from there",
            err=True,
        )
        return INTERRUPTED
    lines = summary(Results(folder))
    if as_json:
        answer = {
            "results": str(folder),
            "chunks": found.chunks,
            "computed": found.computed,
            "rows": sum(line.rows for line in lines),
            "seconds": seconds,
            "summary": [line.document() for line in lines],
        }
        click.echo(json.dumps(answer))
        return 0
    screen.console().print(_table(lines))
    before = f"{found.kept:,} of them kept from before, " if found.kept else ""
    rows = sum(line.rows for line in lines)
    click.echo(f"{rows:,} rows in {found.chunks:,} chunks, {before}{seconds:.1f} s; results are in {folder}")
    return 0


def _table(lines: list[Any]) -> Table:
    headings = (
        "metric",
        "verifier or target",
        "rows",
        "verdicts",
        "largest TV",
        r"mean E\[tau]",
        "of stateless",
    )
    table = screen.table("Swept", "llrlrrrr", *headings, "least")
    for line in lines:
        decided = {
            said: count
            for said, count in line.verdicts.items()
            if said != "not decided" or line.metric != "check"
        }
        table.add_row(
            line.metric,
            line.name,
            f"{line.rows:,}",
            ", ".join(f"{count:,} {said}" for said, count in sorted(decided.items())),
            f"{line.largest['total_variation']:.3g}" if "total_variation" in line.largest else "",
            _number(line.mean("expected_accepted"), "{:.4f}"),
            _number(100 * line.mean("share_stateless"), "{:.2f} %"),
            _number(100 * line.least.get("share_stateless", float("nan")), "{:.2f} %"),
        )
    return table


def _number(value: float, how: str) -> str:
    return "" if isnan(value) else how.format(value)
