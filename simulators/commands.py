"""The commands `check` and `law`."""

import json
import os
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import click

from simulators import screen
from simulators.check import Family, Piece, Tally, applies, pieces, run
from simulators.decode import decode
from simulators.door import INTERRUPTED
from simulators.enumerate import emission
from simulators.instances.files import read, spelled
from simulators.instances.suite import from_text, standard
from simulators.verdict import Verdict, judge
from simulators.witness import shrink
from theory.errors import BadInput
from theory.instance import Instance
from theory.numbers import text
from theory.verifier import Verifier
from theory.verifiers import VERIFIERS, named

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
force_option = click.option(
    "--force", is_flag=True, help="Run verifiers also on drafts they are not made for."
)


@click.command()
@click.argument("instances", nargs=-1, type=click.Path(path_type=Path), metavar="[INSTANCE.json]...")
@click.option(
    "--verifier", "names", multiple=True, metavar="NAME", help="Only this verifier; may be repeated."
)
@click.option("--text", "source", type=click.Path(path_type=Path), help="Make instances from a text file.")
@click.option("--vocab", type=int, help="Symbol classes of --text [default: 3].")
@click.option("--depth", type=int, help="Draft depth of --text [default: 2].")
@click.option("--jobs", type=int, help="Processes [default: one a core].")
@force_option
@json_option
def check(
    instances: tuple[Path, ...],
    names: tuple[str, ...],
    source: Path | None,
    vocab: int | None,
    depth: int | None,
    jobs: int | None,
    force: bool,
    as_json: bool,
) -> int:
    """Exhaustive exact losslessness checks.

    With no instance: every verifier, on every draft it is made for, over the standard suite of
    hand-made, exhaustive, random, adversarial and real-text instances. Exit status 0 when every
    verdict is as declared, 1 when one is not, 2 for bad input.
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
    found = _enumerate(
        list(pieces(suite, verifiers, force)), verifiers, _cores() if jobs is None else jobs, as_json
    )
    ok = all(
        _as_declared(tally, thorough=not families and not found.left) for tally in found.tallies.values()
    )
    if as_json:
        answer = {"results": found.results, "ok": ok, "instances": found.instances, "seconds": found.seconds}
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


def _enumerate(work: Sequence[Piece], verifiers: Sequence[Verifier], jobs: int, keep: bool) -> _Found:
    started = monotonic()
    found = _Found({verifier.name: Tally(verifier) for verifier in verifiers})
    found.left = sum(len(piece.indices) for piece in work)
    with screen.progress() as bar:
        task = bar.add_task("enumerating", total=sum(piece.effort for piece in work), done=0, all=found.left)
        try:
            for piece, verdicts in run(work, min(jobs, 1 + len(work) // 8)):
                for index, verdict in verdicts:
                    found.tallies[verdict.verifier].add(verdict, piece, index)
                    if keep:
                        found.results.append(_result(verdict))
                found.instances += len(piece.indices)
                found.left -= len(piece.indices)
                bar.update(task, advance=piece.effort, done=found.instances)
        except KeyboardInterrupt:
            pass
        except BrokenProcessPool:
            click.echo(
                "draftproof: a worker process died (out of memory?); here is what was finished", err=True
            )
    found.seconds = round(monotonic() - started, 3)
    return found


def _as_declared(tally: Tally, thorough: bool) -> bool:
    # One harmless instance does not refute "lossy"; the standard suite, made to show it, does.
    if tally.verifier.lossless or thorough:
        return not tally.instances or tally.found_lossless == tally.verifier.lossless
    return True


def _show(found: _Found, ok: bool) -> None:
    met = [tally for tally in found.tallies.values() if tally.instances]
    for tally in met:
        if (failing := tally.failing()) is not None:
            click.echo(_smallest(tally.verifier, failing))
    screen.console().print(screen.verdicts(met))
    laws = sum(tally.instances for tally in met)
    click.echo(
        f"{found.instances:,} instances, {laws:,} exact laws in {found.seconds:.1f} s: "
        + _conclusion(found, ok)
    )


def _conclusion(found: _Found, ok: bool) -> str:
    said = "every verdict is as declared" if ok else "NOT every verdict is as declared"
    if not found.instances:
        said = "no verdict yet"
    return f"{said}; interrupted with {found.left:,} instances left" if found.left else said


def _result(verdict: Verdict) -> dict[str, Any]:
    return {
        "verifier": verdict.verifier,
        "instance": verdict.instance,
        "lossless": verdict.lossless,
        "declared": verdict.declared,
        "total_variation": text(verdict.total_variation),
        "expected_accepted": text(verdict.expected_accepted),
    }


@click.command()
@click.argument("instance", type=click.Path(path_type=Path), metavar="INSTANCE.json")
@click.option("--verifier", "name", required=True, metavar="NAME", help="The verifier.")
@click.option(
    "--iterations", type=click.IntRange(1, 8), default=1, show_default=True, help="Rounds of decoding."
)
@force_option
@json_option
def law(instance: Path, name: str, iterations: int, force: bool, as_json: bool) -> int:
    """Exact law of one iteration, verdict, E[tau].

    With --iterations N above 1: the joint law of the first depth + N tokens over N iterations,
    with the state that the verifier keeps. Exit status 0 when lossless, 1 when not, 2 for bad input.
    """
    verifier, given = named(name), read(instance)
    if not force:
        must_apply(verifier, given)
    verdict = judge(given, verifier, iterations)
    if iterations == 1:
        emitted = emission(given, verifier).law()
    else:
        emitted = decode(given, verifier, iterations).first(given.draft.depth + iterations)
    if as_json:
        answer = {
            "verifier": verifier.name,
            "lossless": verdict.lossless,
            "total_variation": text(verdict.total_variation),
            "expected_accepted": text(verdict.expected_accepted),
            "law": {spelled(word): text(mass) for word, mass in emitted.items()},
        }
        click.echo(json.dumps(answer))
        return int(not verdict.lossless)
    title = "law of the emitted block" if iterations == 1 else f"joint law over {iterations} iterations"
    click.echo(f"{verifier.name} on {given.name}: {title}")
    screen.console().print(screen.law(emitted))
    click.echo(
        f"{screen.declared(verdict.lossless)}: total variation {screen.shown(verdict.total_variation)}, "
        f"E[tau] {screen.shown(verdict.expected_accepted)}"
    )
    if verdict.wrong is not None:
        click.echo(f"{screen.witness(verdict.wrong)}\n{_smallest(verifier, given, iterations)}")
    return int(not verdict.lossless)


def _smallest(verifier: Verifier, failing: Instance, iterations: int | None = None) -> str:
    small = shrink(failing, lambda each: judge(each, verifier, iterations).wrong is not None)
    wrong = judge(small, verifier, iterations).wrong
    assert wrong is not None
    return screen.smallest(verifier.name, small, wrong)


def must_apply(verifier: Verifier, instance: Instance) -> None:
    """BadInput unless the verifier is made for the instance's draft."""
    if not applies(verifier, instance):
        raise BadInput(
            f"{instance.name}: {verifier.name} is made for {', '.join(verifier.drafts)}, "
            f"not for {instance.draft.label}; --force shows what goes wrong"
        )


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


COMMANDS = (check, law)
