"""The command `report`."""

from pathlib import Path
from time import monotonic

import click

from draftproof.simulators import screen
from draftproof.simulators.commands.options import FILE, PATH, json_option
from draftproof.theory.errors import extra


@click.command()
@click.argument("results", type=PATH, metavar="RESULTS")
@click.option("--output", type=FILE, default=Path("report.html"), show_default=True, help="The page.")
@click.option("--title", help="Title of the page [default: the folder's name].")
@json_option
def report(results: Path, output: Path, title: str | None, as_json: bool) -> int:
    """Write one self-contained page of a sweep's results.

    RESULTS is a folder that `draftproof sweep` wrote. The page has what was asked, verdicts, gaps and worst
    instances, with a run of each verifier of yours. It is one file and loads nothing from a network. Exit
    status 0, or 2 for bad input.
    """
    with extra("report"):
        from draftproof.simulators.study.report.sections import written
    started = monotonic()
    size, rows = written(results, output, title)
    seconds = round(monotonic() - started, 3)
    document = {"output": str(output), "bytes": size, "sections": rows, "seconds": seconds}
    screen.answer(document, f"{output}: {size / 1e6:.1f} MB, {seconds:.1f} s", as_json)
    return 0
