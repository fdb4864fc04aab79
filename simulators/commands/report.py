"""The command `report`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from pkgutil import resolve_name
from time import monotonic
from typing import Any

import click

from draftproof.simulators import screen
from draftproof.simulators.commands.options import FILE, json_option
from draftproof.simulators.instances.files import read
from draftproof.simulators.instances.scenarios import scenario
from draftproof.simulators.instances.suite import of_depth
from draftproof.simulators.laws.enumerate import CRASHES
from draftproof.simulators.study.ensembles import described
from draftproof.simulators.study.report.explorer import explorable, recorded
from draftproof.simulators.study.report.page import page
from draftproof.simulators.support.files import replacing
from draftproof.simulators.support.pool import cores, shared
from draftproof.simulators.user_code import named
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS

STANDARD: list[tuple[Scheme, int]] = [
    (Chain(2), 2),
    (Chain(1), 2),
    *((draft, 3) for draft in of_depth(1)[1:]),
    (Tree((((),), ())), 2),
]
"""Drafts and vocabularies of the explorer's default instances; every verifier is made for one of them."""

WORST = 2  # largest number of instances that the explorer takes from the results


@click.command()
@click.argument("results", type=FILE, metavar="RESULTS")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    help="The page.",
)
@click.option("--title", help="Title of the page [default: the folder's name].")
@click.option(
    "--explore",
    "given",
    multiple=True,
    type=FILE,
    metavar="INSTANCE.json",
    help="Also add this instance to the explorer; may be repeated.",
)
@json_option
@click.pass_obj
def report(
    context: Mapping[str, Any],
    results: Path,
    output: Path,
    title: str | None,
    given: Sequence[Path],
    as_json: bool,
) -> int:
    """Write one self-contained page of a sweep's results.

    RESULTS is a folder that `draftproof sweep` wrote. The page has verdicts, gaps, worst
    instances, curves, the claims, the mutants, and an explorer of small instances; it is one
    file and loads nothing from a network. Exit status 0, or 2 for bad input.
    """
    try:
        from draftproof.simulators.study.report.sections import sections, worst_instances
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
    mine = list(_own(given))
    furthest = (
        (f"furthest below the optimum in these results: {verifier}", instance)
        for verifier, instance in worst_instances(found, WORST)
    )
    shown = explored([*mine, *standard(), *furthest], list(_rules(found)))
    made = page(title or results.resolve().name, *_origin(found), data, shown)
    with replacing(output) as part:
        part.write_text(made, encoding="utf-8")
    seconds, size = round(monotonic() - started, 3), len(made.encode())
    if as_json:
        rows = {key: len(value) for key, value in data.items()}
        click.echo(json.dumps({"output": str(output), "bytes": size, "sections": rows, "seconds": seconds}))
    else:
        click.echo(f"{output}: {size / 1e6:.1f} MB, {len(shown)} instances to explore, {seconds:.1f} s")
    return 0


def explored(
    instances: Sequence[tuple[str, Instance]], own: Sequence[Verifier] = ()
) -> list[tuple[str, dict[str, Any]]]:
    """(title, the explorer's document) of every (title, instance), recorded on all cores; with the user's
    own verifiers.
    """
    record = partial(_recorded, own=own)
    with screen.progress("instances") as bar:
        found = bar.track(shared(record, instances, cores()), len(instances), description="exploring")
        documents = {title: document for (title, _), document in found}
    return [(title, documents[title]) for title, _ in instances]


def standard() -> Iterator[tuple[str, Instance]]:
    """(title, instance) of the instances that every explorer has."""
    for draft, vocab in STANDARD:
        yield f"{draft.label}, {described(draft)}, V = {vocab}", scenario("toy", draft, vocab)


def _recorded(titled: tuple[str, Instance], own: Sequence[Verifier]) -> dict[str, Any]:
    try:
        return recorded(titled[1], own=own)
    except (TypeError, *CRASHES) as error:  # of a rule of the user's, on some row of the sliders
        click.echo(f"{titled[0]}: without your own verifiers: {type(error).__name__}: {error}", err=True)
        return recorded(titled[1])


def _rules(results: Any) -> Iterator[Verifier]:
    # The user's verifiers in the results that have steps to walk: a function in floats is one draw.
    configured = results.manifest["configuration"]["family"]
    for name in dict.fromkeys(name for entry in configured for name in entry["verifiers"]):
        if name in VERIFIERS:
            continue
        try:
            found = named(name)
        except BadInput as error:  # the results hold its numbers, not its code
            click.echo(f"the explorer lacks {name}: {error}", err=True)
        else:
            if found.rounding is None:
                yield found


def _own(given: Sequence[Path]) -> Iterator[tuple[str, Instance]]:
    for path in given:
        instance = read(path)
        if not explorable(instance):
            raise BadInput(f"{path}: too large to explore")
        yield str(path), instance


def _origin(results: Any) -> tuple[str, list[str]]:
    # (the page's summary, lines on the origin of its numbers)
    manifest, metrics = results.manifest, results.metrics
    rows = sum(results.rows(f'select count(*) as n from "{metric}"')[0]["n"] for metric in metrics)
    finished = sum(len(results.shards(metric)) for metric in metrics)
    whole = "" if finished >= manifest["chunks"] else " The sweep is not finished."
    chunks = f"{finished:,} of {manifest['chunks']:,} chunks"
    versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    return f"{rows:,} rows ({', '.join(metrics)}) in {chunks}.{whole}", [
        f"draftproof {manifest['draftproof']}, commit {manifest['commit'] or 'unknown'}; {versions}.",
        f"Configuration {manifest['digest']}.",
    ]
