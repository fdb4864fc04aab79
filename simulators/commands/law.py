"""The command `law`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from flint import fmpq

from draftproof.simulators import screen
from draftproof.simulators.commands.options import NAMED, PATH, certificate_option, force_option, json_option
from draftproof.simulators.instances.files import read_any
from draftproof.simulators.laws.certificate import of_batch, of_instance, of_law
from draftproof.simulators.laws.check import judge_any, must_apply
from draftproof.simulators.laws.repeat import must_have_a_law
from draftproof.simulators.laws.size import not_shown, size
from draftproof.simulators.laws.verdict import Verdict, joint, judge, judged
from draftproof.simulators.laws.verdicts.batches import BatchVerdict, batch_law, judge_batch
from draftproof.simulators.laws.verdicts.keys import KeysVerdict, judge_keys
from draftproof.simulators.laws.witness import smallest
from draftproof.simulators.user_code import named
from draftproof.theory.errors import BadInput, printable
from draftproof.theory.instance import Instance
from draftproof.theory.keys import keys
from draftproof.theory.keys.keyed import Keyed
from draftproof.theory.law import Law
from draftproof.theory.numbers import text
from draftproof.theory.selection.batch import Batch
from draftproof.theory.shared.reportable import spelled
from draftproof.theory.targets.processors import Mask
from draftproof.theory.verifier import Verifier

WORDS = 10**6  # of a law that is listed


@click.command()
@click.argument("instance", type=PATH, metavar="INSTANCE.json")
@click.option("--verifier", "name", required=True, metavar="NAME", help=f"The verifier: {NAMED}.")
@click.option(
    "--iterations", type=click.IntRange(1, 8), default=1, show_default=True, help="Rounds of decoding."
)
@click.option("--keys", "keyed", metavar="WORDS", help="Over a watermark's keys, such as dual-key,width=2.")
@certificate_option
@force_option
@json_option
def law(
    instance: Path,
    name: str,
    iterations: int,
    keyed: str | None,
    certificate: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Exact law of one iteration, verdict, E[tau].

    With --iterations N above 1: the joint law of the first depth + N tokens over N iterations,
    with the state that the verifier keeps; with --keys that of the first N tokens, over all keys. Exit status
    0 when lossless, 1 when not, 2 for bad input; that of `check` is 1 only when a verifier declared lossless
    is not.
    """
    verifier, given = named(name), read_any(instance)
    under = None if keyed is None else keys(keyed)
    if isinstance(given, Batch) or not force:
        must_apply(verifier, given)
    if certificate and (under or verifier.rounding):
        raise BadInput(f"{instance}: --certificate goes without --keys and floats")
    if isinstance(given, Instance):
        size(given, verifier, iterations)
    elif iterations > 1 or under:
        asked = "--keys" if under else "--iterations"
        raise BadInput(f"{instance}: a batch is judged over one call; {asked} goes with one instance")

    def judge(each: Any) -> Verdict:
        if under:
            return judge_keys(each, verifier, under, iterations)[0]
        return judge_any(each, verifier, iterations=iterations)

    with screen.progress("iterations") as bar:
        task = bar.add_task("enumerating", total=iterations)
        verdict, emitted = _judged(
            given, verifier, iterations, under, lambda n: bar.update(task, completed=n)
        )
        must_have_a_law(verifier, verdict.invalid)
        bar.update(task, completed=iterations, description="looking for a smaller instance")
        if certificate and isinstance(given, Batch):
            certificate.write_text(of_batch(given, verifier, verdict))
        elif certificate and isinstance(given, Instance):
            calls = iterations if iterations > 1 or verifier.carry is not None else 0
            lines = of_instance(given), of_law(given, verifier, verdict, calls)
            certificate.write_text("".join(lines))
        small = None if verdict.lossless or as_json else smallest(given, judge)
    one = given.requests[0] if isinstance(given, Batch) else given
    unseen = not_shown(one.draft.depth, one.vocab) if verdict.lossless else ""
    if as_json:
        click.echo(json.dumps(_answer(verifier, verdict, emitted, unseen)))
    elif verdict.invalid:
        click.echo(f"{printable(_what(given, verifier))}: no law: {verdict.invalid}")
    else:
        _print(given, verifier, verdict, emitted, iterations, under)
        for step in getattr(one.target, "processors", ()):
            if isinstance(step, Mask):
                click.echo(f"judged against the {step.meant}")
        if unseen:
            screen.say(unseen)
        if small:
            screen.say(f"{screen.why(verdict)}\n{screen.smallest(*small)}")
    return int(not verdict.lossless)


def _answer(verifier: Verifier, verdict: Verdict, emitted: dict[str, fmpq], unseen: str) -> dict[str, Any]:
    # The JSON document.
    return {
        "verifier": verifier.name,
        "lossless": verdict.lossless,
        "total_variation": text(verdict.total_variation),
        "expected_accepted": text(verdict.expected_accepted),
        "law": {word: text(mass) for word, mass in emitted.items()},
        **verdict.more,
        **({"invalid": verdict.invalid} if verdict.invalid else {}),
        **({"not_shown": unseen} if unseen else {}),
    }


def _what(given: Instance | Batch, verifier: Verifier) -> str:
    what = f"{verifier.name} on {given.name}"
    return f"{given.rule.name} with {what}" if isinstance(given, Batch) else what


def _print(
    given: Instance | Batch,
    verifier: Verifier,
    verdict: Verdict,
    emitted: dict[str, fmpq],
    iterations: int,
    under: Keyed | None,
) -> None:
    # The law as a table, and the verdict in a line.
    title = "law of the emitted block" if iterations == 1 else f"joint law over {iterations} iterations"
    heading, total, scope = "tokens", "E[tau]", ""
    if isinstance(given, Batch):
        title, heading, total = "joint law of the emitted blocks", "tokens of each request", "sum of E[tau]"
    else:
        scope = f" (V = {given.vocab}, depth {given.draft.depth})"
    if under:
        title = f"law over keys of the first {iterations} tokens, {under}"
    click.echo(f"{printable(_what(given, verifier))}: {title}")
    screen.console().print(screen.law(emitted, heading))
    answer = screen.declared(verdict.lossless)
    if not verdict.lossless:
        answer += ", declared lossless" if verdict.declared else ", as declared"
    distance = f"total variation {screen.shown(verdict.total_variation)}"
    if isinstance(verdict, BatchVerdict):
        distance += f", of each request {', '.join(map(screen.shown, verdict.marginals))}"
    screen.say(f"{answer}: {distance}, {total} {screen.shown(verdict.expected_accepted)}{scope}")
    if isinstance(verdict, KeysVerdict):
        screen.say(verdict)


def _judged(
    given: Instance | Batch,
    verifier: Verifier,
    iterations: int,
    under: Keyed | None,
    progress: Callable[[float], object],
) -> tuple[Verdict, dict[str, fmpq]]:
    # The verdict, and the law: word, or words of all requests, -> probability.
    if isinstance(given, Batch):
        verdict = judge_batch(given, verifier)
        blocks = {} if verdict.invalid else batch_law(given, verifier)
        return verdict, {" | ".join(map(spelled, words)): mass for words, mass in blocks.items()}
    if under:
        verdict, emitted = judge_keys(given, verifier, under, iterations, measured=True)
    elif iterations == 1:
        verdict, block = judged(given, verifier)
        if verifier.carry is not None:
            verdict = judge(given, verifier, 1)
        if block is not None and block.words > WORDS:
            raise BadInput(
                f"{given.name}: what {verifier.name} emits has up to {block.words:,} words; at most "
                f"{WORDS:,} are listed, and `draftproof check` judges it"
            )
        emitted = Law([]) if block is None else block.law()
    else:
        verdict, emitted = joint(given, verifier, iterations, progress)
    return verdict, {spelled(word): mass for word, mass in emitted.items()}
