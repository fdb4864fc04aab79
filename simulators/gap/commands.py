"""The command `gap`."""

import json
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import click
from flint import fmpq

from simulators import screen
from simulators.check import applies
from simulators.commands import force_option, json_option, must_apply
from simulators.door import INTERRUPTED
from simulators.figures import required
from simulators.gap import plot, table, worst
from simulators.gap.ensemble import STANDARD, VARIED, described, vary
from simulators.gap.measure import Gap, applicable, measure
from simulators.gap.summary import summarise
from simulators.instances.files import document, draft_of, read
from simulators.instances.mixed import Mixed
from theory.drafts import Scheme
from theory.errors import BadInput
from theory.verifier import Verifier
from theory.verifiers import named

COUNT, SECONDS, VOCAB = 40, 20.0, 3


@click.command()
@click.argument("instance", required=False, type=click.Path(path_type=Path), metavar="[INSTANCE.json]")
@click.option(
    "--verifier", "names", multiple=True, metavar="NAME", help="Only this verifier; may be repeated."
)
@click.option("--vary", "what", type=click.Choice(list(VARIED)), help="Vary one thing over an ensemble.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where --vary writes its figure and numbers.",
)
@click.option("--worst", "hunted", metavar="NAME", help="Search for the instance with the largest gap.")
@click.option(
    "--draft",
    "draft_text",
    metavar="JSON",
    help="The draft of an ensemble or of --worst, as in an instance file.",
)
@click.option(
    "--vocab",
    type=click.IntRange(1, 8),
    help=f"The vocabulary of an ensemble or of --worst [default: {VOCAB}].",
)
@click.option(
    "--count",
    type=click.IntRange(1),
    help=f"Random instances at each point of an ensemble [default: {COUNT}].",
)
@click.option(
    "--seconds", type=click.FloatRange(0.1), help=f"How long --worst searches [default: {SECONDS:g}]."
)
@click.option("--seed", type=int, help="Where --worst starts, reproducibly up to the clock [default: 0].")
@force_option
@json_option
def gap(
    instance: Path | None,
    names: tuple[str, ...],
    what: str | None,
    out: Path | None,
    hunted: str | None,
    draft_text: str | None,
    vocab: int | None,
    count: int | None,
    seconds: float | None,
    seed: int | None,
    force: bool,
    as_json: bool,
) -> int:
    """How far each verifier is from each certified optimum.

    With an instance: E[tau] of every verifier made for its draft, and its share of the best that
    lossless verifiers without state can do (stateless) and of the best that any coupling of draft
    and target blocks can do (full information). Without one: means over random instances on three
    standard drafts, or on one --draft. With --vary: a figure and its numbers. With --worst: the
    instance of small rationals on which a verifier was found furthest below the stateless optimum,
    on standard output as an instance file.
    """
    given = {
        "--worst": hunted is not None,
        "--vary": what is not None,
        "an instance": instance is not None,
    }
    if sum(given.values()) > 1:
        raise BadInput(
            f"{' and '.join(key for key, is_given in given.items() if is_given)} do not go together"
        )
    mode = next((key for key, is_given in given.items() if is_given), "nothing")
    belongs: list[tuple[str, object, tuple[str, ...]]] = [
        ("--out", out, ("--vary",)),
        ("--draft", draft_text, ("--vary", "--worst", "nothing")),
        ("--vocab", vocab, ("--vary", "--worst", "nothing")),
        ("--count", count, ("--vary", "nothing")),
        ("--seconds", seconds, ("--worst",)),
        ("--seed", seed, ("--worst",)),
        ("--verifier", names or None, ("--vary", "an instance", "nothing")),
        ("--force", force or None, ("an instance",)),
    ]
    for option, value, modes in belongs:
        if value is not None and mode not in modes:
            raise BadInput(f"{option} goes with {' or '.join(each for each in modes if each != 'nothing')}")
    if seconds is not None and not isfinite(seconds):
        raise BadInput(f"--seconds must be a number of seconds, not {seconds}")
    verifiers = [named(name) for name in dict.fromkeys(names)]
    draft = None if draft_text is None else draft_of(draft_text)
    if hunted is not None:
        return _worst(named(hunted), draft, vocab or VOCAB, seconds or SECONDS, seed or 0, as_json)
    if what is not None:
        return _vary(what, out, draft, vocab, count or COUNT, verifiers, as_json)
    if instance is not None:
        return _one(instance, verifiers, force, as_json)
    return _many([draft] if draft else STANDARD, vocab or VOCAB, verifiers, count or COUNT, as_json)


def _one(path: Path, verifiers: Sequence[Verifier], force: bool, as_json: bool) -> int:
    given = read(path)
    if not force:
        for verifier in verifiers:
            must_apply(verifier, given)
    with screen.console(stderr=True).status("") as status:
        try:
            found = measure(given, verifiers or None, lambda name: status.update(f"{name} on {path}"))
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None
    if as_json:
        click.echo(json.dumps(table.document(found)))
    else:
        screen.console().print(table.one(found))
    return 0


def _many(
    drafts: Sequence[Scheme], vocab: int, verifiers: Sequence[Verifier], count: int, as_json: bool
) -> int:
    families = [Mixed(draft, vocab, count) for draft in drafts]
    for verifier in verifiers:
        if not any(draft.label in verifier.drafts for draft in drafts):
            labels = ", ".join(draft.label for draft in drafts)
            raise BadInput(f"{verifier.name} is made for {', '.join(verifier.drafts)}, not for {labels}")
    answers: list[dict[str, Any]] = []
    with screen.progress() as bar:
        task = bar.add_task("measuring", total=len(families) * count)
        for family in families:
            fit = [each for each in verifiers or applicable(family[0]) if applies(each, family[0])]
            gaps: list[Gap] = []
            for each in family:
                gaps.append(measure(each, fit))
                bar.advance(task)
            found = summarise(gaps)
            title = f"{family.draft.label}, {described(family.draft)}, V = {vocab}: {count} random instances"
            if as_json:
                answers.append({"draft": title, "means": [vars(row) for row in found]})
            else:
                screen.console().print(table.many(title, found))
    if as_json:
        click.echo(json.dumps({"ensembles": answers}))
    return 0


def _vary(
    what: str,
    out: Path | None,
    draft: Scheme | None,
    vocab: int | None,
    count: int,
    verifiers: Sequence[Verifier],
    as_json: bool,
) -> int:
    if out is None:
        raise BadInput("--vary needs --out FOLDER")
    required()  # before the work, not after it
    with screen.progress() as bar:
        task = bar.add_task(what, total=count * len(VARIED[what].places))
        series = vary(what, count, draft, vocab, verifiers, lambda: bar.advance(task))
    written = plot.write(series, out)
    if as_json:
        click.echo(json.dumps(plot.document(series)))
        return 0
    for point in series.points:
        screen.console().print(table.many(f"{series.what} {point.at}", point.summaries))
    click.echo(f"{series.fixed}; written: {', '.join(map(str, written))}")
    return 0


def _worst(
    verifier: Verifier, draft: Scheme | None, vocab: int, seconds: float, seed: int, as_json: bool
) -> int:
    with screen.console(stderr=True).status("searching") as status:

        def hear(found: worst.Worst) -> None:
            status.update(f"{verifier.name}: gap {float(found.gap):.4f} after {found.tried:,} instances")

        found = worst.search(verifier, draft or worst.usual(verifier), vocab, seconds, seed, hear)
    if found.instance is None:
        raise KeyboardInterrupt
    measured = measure(found.instance, [verifier])
    if as_json:
        answer = {
            "verifier": verifier.name,
            "gap": _above_zero(found.gap),
            "instance": document(found.instance),
            "tried": found.tried,
            **table.document(measured),
        }
        click.echo(json.dumps(answer))
    else:
        click.echo(json.dumps(document(found.instance)))
        mean = screen.shown(measured.expected_accepted[verifier.name])
        least = f"gap {float(found.gap):.6f}" if _above_zero(found.gap) else "no gap found"
        said = f"{verifier.name}: E[tau] {mean}, {table.summary(measured)}; {least}"
        stopped = ", interrupted" if found.interrupted else ""
        click.echo(f"{said}; {found.tried:,} instances tried{stopped}", err=True)
    return INTERRUPTED if found.interrupted else 0


def _above_zero(gap: fmpq) -> float:
    # Certified from below; what is negative by the solver's rounding is none.
    return float(gap) if float(gap) > worst.ROUNDING else 0.0


COMMANDS = (gap,)
