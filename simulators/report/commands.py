"""The command `report`."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name
from time import monotonic
from typing import Any

import click

from draftproof.simulators import screen
from draftproof.simulators.commands.options import json_option
from draftproof.simulators.files import replacing
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance

Claims = Sequence[dict[str, Any]]
"""Rows with statement, source, scope, verdict and command."""


@click.command()
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    help="The page.",
)
@click.option("--title", help="Its title [default: the name of the folder].")
@click.option(
    "--explore",
    "given",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="INSTANCE.json",
    help="Put this instance into the explorer too; may be repeated.",
)
@json_option
@click.pass_obj
def report(others: Mapping[str, Any], **options: Any) -> int:
    """One self-contained page of a sweep's results.

    RESULTS is a folder that `draftproof sweep` wrote. The page has verdicts, gaps, worst
    instances, curves, the claims, the mutants, and an explorer of small instances; it is one
    file and asks nothing of any network. Exit status 0, or 2 for bad input.
    """
    return _report(resolve_name(others["claims"])(), **options)


def _report(
    claims: Claims, results: Path, output: Path, title: str | None, given: Sequence[Path], as_json: bool
) -> int:
    from draftproof.simulators.report import curves, shares, summary, worst
    from draftproof.simulators.report.instances import explored
    from draftproof.simulators.report.page import page
    from draftproof.simulators.report.read import Store

    started = monotonic()
    store = Store(results)
    if not output.resolve().parent.is_dir():  # before the work, not after it
        raise BadInput(f"{output}: no such file or directory")
    data = {
        "verdicts": summary.verdicts(store),
        "gaps": shares.gaps(store),
        "worst": worst.both(store),
        "curves": curves.curves(store),
        "proofs": summary.proofs(store),
        "audits": summary.audits(store),
        "claims": list(claims),
        "mutants": json.loads(
            (files("draftproof.simulators.report") / "mutants.json").read_text(encoding="utf-8")
        ),
    }
    recorded = _recorded(list(explored(store, given)))
    made = page(title or results.resolve().name, _summary(store), _origin(store), data, recorded)
    with replacing(output) as part:
        part.write_text(made, encoding="utf-8")
    seconds, size = round(monotonic() - started, 3), len(made.encode())
    if as_json:
        rows = {key: len(value) for key, value in data.items()}
        click.echo(json.dumps({"output": str(output), "bytes": size, "sections": rows, "seconds": seconds}))
    else:
        click.echo(f"{output}: {size / 1e6:.1f} MB, {len(recorded)} instances to explore, {seconds:.1f} s")
    return 0


def _recorded(instances: Sequence[tuple[str, Instance]]) -> list[tuple[str, dict[str, Any]]]:
    from joblib import Parallel, delayed

    from draftproof.simulators.report.explorer.record import recorded

    out = []
    with screen.progress("instances") as bar:
        task = bar.add_task("exploring", total=len(instances))
        found = Parallel(-1, return_as="generator")(delayed(recorded)(each) for _, each in instances)
        for (title, _), document in zip(instances, found, strict=True):
            bar.advance(task)
            out.append((title, document))
    return out


def _summary(store: Any) -> str:
    rows = sum(store.rows(f'select count(*) as n from "{metric}"')[0]["n"] for metric in store.metrics)
    manifest = store.results.manifest
    whole = "" if store.finished >= manifest["chunks"] else " The sweep is not finished."
    chunks = f"{store.finished:,} of {manifest['chunks']:,} chunks"
    return f"{rows:,} rows ({', '.join(store.metrics)}) in {chunks}.{whole}"


def _origin(store: Any) -> list[str]:
    manifest = store.results.manifest
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    return [
        f"draftproof {manifest['draftproof']}, commit {manifest['commit'] or 'unknown'}; {versions}.",
        f"Configuration {manifest['digest']}.",
    ]
