"""The command `check`."""

import json
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import click

from draftproof.simulators import screen
from draftproof.simulators.check import Family, Piece, Tally, cores, must_apply, pieces, run
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.simulators.commands.options import FILE, force_option, json_option
from draftproof.simulators.instances.files import read
from draftproof.simulators.instances.suite import from_text, standard
from draftproof.simulators.verdict import Verdict
from draftproof.simulators.witness import smallest
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import text
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS, named


@click.command()
@click.argument("instances", nargs=-1, type=FILE, metavar="[INSTANCE.json]...")
@click.option(
    "--verifier", "names", multiple=True, metavar="NAME", help="Only this verifier; may be repeated."
)
@click.option("--text", "source", type=FILE, help="Make instances from a text file.")
@click.option("--vocab", type=int, help="Number of symbol classes of --text [default: 3].")
@click.option("--depth", type=int, help="Draft depth of --text [default: 2].")
@click.option("--jobs", type=int, help="Number of processes [default: one per core].")
@click.option(
    "--rows", is_flag=True, help="With --json on the standard suite: a row for every verdict (37 MB)."
)
@force_option
@json_option
def check(
    instances: tuple[Path, ...],
    names: tuple[str, ...],
    source: Path | None,
    vocab: int | None,
    depth: int | None,
    jobs: int | None,
    rows: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Exhaustive exact losslessness checks.

    With no instance: every verifier, on every draft it is made for, over the standard suite of
    hand-made, exhaustive, random, adversarial and real-text instances. --json then answers with a
    summary of each verifier and its first wrong verdict; --rows adds all verdicts. Exit status 0 when
    every verdict is as declared (lossy, of a rule declared lossy), 1 when one is not, 2 for bad input.
    """
    verifiers = [named(name) for name in dict.fromkeys(names)] or list(VERIFIERS.values())
    if source is None and (vocab, depth) != (None, None):
        raise BadInput("--vocab and --depth go with --text")
    given = [read(path) for path in instances]
    if names and not force:
        for instance in given:
            for verifier in verifiers:
                must_apply(verifier, instance)
    families: list[Family] = [[instance] for instance in given]
    if source is not None:
        families += from_text(source, 3 if vocab is None else vocab, 2 if depth is None else depth)
    suite = families or standard()
    work = list(pieces(suite, verifiers, force))
    found = _enumerate(work, verifiers, cores() if jobs is None else jobs, as_json, rows or bool(families))
    thorough = not families and not found.left
    ok = all(tally.as_declared(thorough) for tally in found.tallies.values())
    if as_json:
        answer = {
            "results": found.results,
            "summary": [_summary(tally) for tally in found.tallies.values() if tally.instances],
            "ok": ok,
            "instances": found.instances,
            "seconds": found.seconds,
        }
        click.echo(json.dumps(answer))
    else:
        _show(found, ok)
    return INTERRUPTED if found.left else int(not ok)


@dataclass
class _Found:
    tallies: dict[str, Tally]
    results: list[dict[str, Any]] = field(default_factory=list)
    instances: int = 0
    left: int = 0
    seconds: float = 0.0
    vocabs: set[int] = field(default_factory=set)
    depths: set[int] = field(default_factory=set)


def _enumerate(
    work: Sequence[Piece], verifiers: Sequence[Verifier], jobs: int, keep: bool, every: bool
) -> _Found:
    # With `keep` results are kept: all of them if `every` is set, else the first wrong one of each verifier.
    started = monotonic()
    found = _Found({verifier.name: Tally(verifier) for verifier in verifiers})
    found.left = sum(len(piece.indices) for piece in work)
    with screen.progress() as bar:
        task = bar.add_task("enumerating", total=sum(piece.effort for piece in work), done=0, all=found.left)
        try:
            for piece, verdicts in run(work, min(jobs, 1 + len(work) // 8)):
                for index, verdict in verdicts:
                    tally = found.tallies[verdict.verifier]
                    first_wrong = not verdict.lossless and tally.found_lossless
                    tally.add(verdict, piece, index)
                    if keep and (every or first_wrong):
                        found.results.append(_result(verdict))
                found.vocabs.add(piece.family[0].vocab)
                found.depths.add(piece.family[0].draft.depth)
                found.instances += len(piece.indices)
                found.left -= len(piece.indices)
                bar.update(task, advance=piece.effort, done=found.instances)
        except KeyboardInterrupt:
            pass
        except BrokenProcessPool:
            click.echo(
                "draftproof: a worker process died (out of memory?); the results so far follow", err=True
            )
    found.seconds = round(monotonic() - started, 3)
    return found


def _show(found: _Found, ok: bool) -> None:
    tallies = [tally for tally in found.tallies.values() if tally.instances]
    for tally in tallies:
        if (failing := tally.failing()) is not None:
            click.echo(screen.smallest(*smallest(failing, tally.verifier)))
    screen.console().print(screen.verdicts(tallies))
    laws = sum(tally.instances for tally in tallies)
    conclusion = "every verdict is as declared" if ok else "NOT every verdict is as declared"
    if not found.instances:
        conclusion = "no verdict yet"
    left = f"; interrupted with {found.left:,} instances left" if found.left else ""
    size = f" (V = {_spread(found.vocabs)}, depth {_spread(found.depths)})" if found.instances else ""
    count = f"{found.instances:,} instances, {laws:,} exact laws{size}"
    click.echo(f"{count} in {found.seconds:.1f} s: {conclusion}{left}")


def _spread(values: set[int]) -> str:
    least, most = min(values), max(values)
    return f"{least}" if least == most else f"{least} to {most}"


def _summary(tally: Tally) -> dict[str, Any]:
    return {
        "verifier": tally.verifier.name,
        "drafts": sorted(tally.drafts),
        "instances": tally.instances,
        "lossless": tally.lossless,
        "declared": tally.verifier.lossless,
        "total_variation": text(tally.worst),
    }


def _result(verdict: Verdict) -> dict[str, Any]:
    return {
        "verifier": verdict.verifier,
        "instance": verdict.instance,
        "lossless": verdict.lossless,
        "declared": verdict.declared,
        "total_variation": text(verdict.total_variation),
        "expected_accepted": text(verdict.expected_accepted),
        **({"invalid": verdict.invalid} if verdict.invalid else {}),
    }
