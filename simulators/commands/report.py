"""The command `report`."""

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name
from time import monotonic
from typing import Any

import click

from draftproof.simulators.commands.options import FILE, PATH, json_option
from draftproof.simulators.study.report.page import page
from draftproof.simulators.support.files import replacing
from draftproof.theory.errors import BadInput


@click.command()
@click.argument("results", type=PATH, metavar="RESULTS")
@click.option("--output", type=FILE, default=Path("report.html"), show_default=True, help="The page.")
@click.option("--title", help="Title of the page [default: the folder's name].")
@json_option
@click.pass_obj
def report(context: Mapping[str, Any], results: Path, output: Path, title: str | None, as_json: bool) -> int:
    """Write one self-contained page of a sweep's results.

    RESULTS is a folder that `draftproof sweep` wrote. The page has verdicts, gaps, worst
    instances, the claims and the mutants; it is one file and loads nothing from a
    network. Exit status 0, or 2 for bad input.
    """
    try:
        from draftproof.simulators.study.report.sections import sections
        from draftproof.simulators.study.results import Results
    except ImportError as error:
        raise BadInput(f"report needs {error.name}: pip install 'draftproof[report]'") from None
    started = monotonic()
    found = Results(results)
    if not found.metrics:
        raise BadInput(f"{results}: has no finished shard yet")
    if not output.resolve().parent.is_dir():  # report a wrong path before the work starts
        raise BadInput(f"{output}: no such file or directory")
    mutants = files("draftproof.simulators.study.report") / "mutants.json"
    data = sections(found)
    data["claims"] = list(resolve_name(context["claims"])())
    data["mutants"] = json.loads(mutants.read_text(encoding="utf-8"))
    made = page(title or results.resolve().name, *_origin(found), data)
    with replacing(output) as part:
        part.write_text(made, encoding="utf-8")
    seconds, size = round(monotonic() - started, 3), len(made.encode())
    if as_json:
        rows = {key: len(value) for key, value in data.items()}
        click.echo(json.dumps({"output": str(output), "bytes": size, "sections": rows, "seconds": seconds}))
    else:
        click.echo(f"{output}: {size / 1e6:.1f} MB, {seconds:.1f} s")
    return 0


def _origin(results: Any) -> tuple[str, list[str]]:
    # (the page's summary, lines on the origin of its numbers)
    manifest, metrics = results.manifest, results.metrics
    rows = sum(results.rows(f'select count(*) as n from "{metric}"')[0]["n"] for metric in metrics)
    finished = sum(len(results.shards(metric)) for metric in metrics)
    whole = "" if finished >= manifest["chunks"] else " The sweep is not finished."
    chunks = f"{finished:,} of {manifest['chunks']:,} chunks"
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    sources = manifest["sources"]["draftproof"][:12]
    return f"{rows:,} rows ({', '.join(metrics)}) in {chunks}.{whole}", [
        f"draftproof {manifest['draftproof']}, sources {sources}; {versions}.",
        f"Configuration {manifest['digest']}.",
    ]
