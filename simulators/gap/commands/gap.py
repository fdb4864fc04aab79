"""The command `gap`."""

from math import isfinite
from pathlib import Path

import click

from draftproof.simulators.commands.options import force_option, json_option
from draftproof.simulators.gap.commands.ensembles import over_ensembles
from draftproof.simulators.gap.commands.instance import on_instance
from draftproof.simulators.gap.commands.varied import varied
from draftproof.simulators.gap.commands.worst import worst_instance
from draftproof.simulators.gap.ensemble import STANDARD, VARIED
from draftproof.simulators.instances.files import draft_of
from draftproof.theory.errors import BadInput
from draftproof.theory.verifiers import named

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
        return worst_instance(named(hunted), draft, vocab or VOCAB, seconds or SECONDS, seed or 0, as_json)
    if what is not None:
        return varied(what, out, draft, vocab, count or COUNT, verifiers, as_json)
    if instance is not None:
        return on_instance(instance, verifiers, force, as_json)
    return over_ensembles([draft] if draft else STANDARD, vocab or VOCAB, verifiers, count or COUNT, as_json)
