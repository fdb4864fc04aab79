"""The command `check`."""

import json
import os
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle, product
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

import click

from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.simulators.commands.options import NAMED, PATH, certificate_option, force_option, json_option
from draftproof.simulators.instances.batches import standard_batches
from draftproof.simulators.instances.files import read_any
from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.instances.suite import from_text, measured, standard
from draftproof.simulators.laws.certificate import certified
from draftproof.simulators.laws.check import (
    STEPS,
    Many,
    Pair,
    Piece,
    Tally,
    judge_any,
    judged,
    must_apply,
    pieces,
)
from draftproof.simulators.laws.exact_lanes.lanes import must_be_in_step
from draftproof.simulators.laws.size import not_shown, size
from draftproof.simulators.laws.verdict import Verdict
from draftproof.simulators.laws.verdicts.against import distances, must_measure
from draftproof.simulators.laws.verdicts.batches import BatchVerdict
from draftproof.simulators.laws.witness import smallest
from draftproof.simulators.study.gap import applicable
from draftproof.simulators.support.make import limit_prefixes
from draftproof.simulators.support.pool import cores, shared
from draftproof.simulators.user_code import named
from draftproof.theory.drafts.names import scheme
from draftproof.theory.errors import BadInput, located
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import text
from draftproof.theory.selection import RULES
from draftproof.theory.selection.batch import Batch
from draftproof.theory.shared.reportable import counted
from draftproof.theory.targets import ITSELF, TARGETS, declared
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS
from draftproof.theory.verifiers.token import VERIFIER as TOKEN

OWN = "own"
MANY = 256
"""Least size of a grid of the standard suite that is judged in lanes."""

GRID = "V=2,depth=2,denominator=12"


@click.command()
@click.argument("instances", nargs=-1, type=PATH, metavar="[INSTANCE.json]...")
@click.option(
    "--verifier", "names", multiple=True, metavar="NAME", help=f"Only this: {NAMED}; may be repeated."
)
@click.option("--text", "source", type=PATH, help="Make instances from a text file.")
@click.option("--vocab", type=int, help="Number of symbol classes of --text [default: 3].")
@click.option("--depth", type=int, help="Draft depth of --text [default: 2].")
@click.option(
    "--grid",
    metavar="V=..,denominator=..,depth=..",
    help="All instances whose rows have this denominator, in lanes; draft=WORD in place of depth.",
)
@click.option("--jobs", type=click.IntRange(1), help="Number of processes [default: one per core].")
@click.option(
    "--rows", is_flag=True, help="With --json on the standard suite: a row for every verdict (37 MB)."
)
@click.option(
    "--against",
    metavar="LAW",
    help="A declared target in place of p, such as interpolation:1/4; `own`: what each rule declares.",
)
@certificate_option
@force_option
@json_option
def check(
    instances: tuple[Path, ...],
    names: tuple[str, ...],
    source: Path | None,
    vocab: int | None,
    depth: int | None,
    grid: str | None,
    jobs: int | None,
    rows: bool,
    against: str | None,
    certificate: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Exhaustive exact losslessness checks.

    With no instance: every verifier, on every draft it is made for, over the standard suite of
    hand-made, exhaustive, random, adversarial and real-text instances, and every selection rule on batches
    of requests. --json then answers with a summary of each verifier and its first wrong verdict; --rows
    adds all verdicts. With --against rules are judged against a declared target and measured against p.
    Exit status 0 when every verdict is as declared (lossy, of a rule declared lossy), 1 when one is not or
    LAW is missed, 2 for bad input. With --grid verifiers that order tokens are left out; a lane
    that is found lossy, or stays undecided, is judged again in rationals.
    """
    families: list[Any] = [[read_any(path)] for path in instances]
    made = _grid(grid, [instances, source, against, certificate, force])
    families += made or _of_text(source, vocab, depth)
    whole = not families
    work = _work(families, names, against, force, len(instances), bool(made), rows or certificate is not None)
    with (certificate or Path(os.devnull)).open("w", encoding="utf-8") as file:
        every = rows or not (whole or made)
        found = _enumerate(work, cores() if jobs is None else jobs, as_json, every, certificate and file)
    if found.uncertified:
        without = counted(found.uncertified, "verdict")
        click.echo(f"{without} without a certificate: in floats, or of a batch without a law", err=True)
    thorough = whole and not found.left
    ok = all(tally.as_declared(thorough, against == OWN) for tally in found.tallies.values())
    if as_json:
        summary = list(map(_summary, found.tallies.values()))
        counts = {"instances": found.instances, "seconds": found.seconds}
        click.echo(json.dumps({"results": found.results, "summary": summary, "ok": ok, **counts}))
    else:
        _show(found, work, ok, against == OWN)
    return INTERRUPTED if found.left else int(not ok)


def _work(
    families: list[Any],
    names: tuple[str, ...],
    against: str | None,
    force: bool,
    given: int,
    grid: bool,
    every: bool,
) -> list[Piece]:
    # What is to be judged, of the standard suite if there are no families; the first `given` are instances.
    pairs = _pairs(against, names)
    for verifier, _ in pairs if grid and names else []:
        must_be_in_step(verifier)
        must_apply(verifier, families[0][0])
    if grid:
        pairs = [pair for pair in pairs if not pair[0].ordered]
    if (names or against not in (None, OWN)) and not force:
        for [each], (verifier, _) in product(families[:given], pairs):
            must_apply(verifier, each)
    for [each] in [] if names or force else families[:given]:
        if isinstance(each, Instance):
            applicable(each)  # raises BadInput if there is none
    if against is not None:
        work = _measured(families, pairs, force)
    elif not families:
        lanes = None if every else MANY  # which have no verdict of every instance
        work = _standard(pairs, pairs if names else [(TOKEN, None)], force, lanes)
    else:
        work = list(pieces(families, pairs, force, 0 if grid else None))
    for at, piece in enumerate(work) if given else ():
        fit = tuple(pair for pair in piece.pairs if _fits(piece.family[0], pair[0], bool(names)))
        work[at] = replace(piece, pairs=fit)
    return work


def _grid(spelling: str | None, others: list[Any]) -> list[Grid]:
    # The family that --grid describes; draft=WORD is any draft whose tokens need no order.
    if spelling is None:
        return []
    if any(others):
        raise BadInput("--grid goes with --verifier, --jobs and --json")
    with located(f"--grid {spelling}"):
        parts = (part.partition("=") for part in spelling.split(","))
        given = {key: value for key, _, value in parts}
        draft = given.pop("draft", f"chain:{given.pop('depth', '')}")
        if given.keys() != {"V", "denominator"} or not all(each.isdecimal() for each in given.values()):
            raise BadInput(f"is not written like {GRID}")
        found = Grid(scheme(draft), int(given["V"]), int(given["denominator"]))
        if found.draft.label not in STEPS or min(found.vocab, found.denominator) < 1:
            raise BadInput("lanes are chains, trees or paths of one token or more")
        limit_prefixes(found.vocab, found.draft.depth, found.name)
        return [found]


def _of_text(source: Path | None, vocab: int | None, depth: int | None) -> list[Any]:
    if source is not None:
        return from_text(source, 3 if vocab is None else vocab, 2 if depth is None else depth)
    if (vocab, depth) != (None, None):
        raise BadInput("--vocab and --depth go with --text")
    return []


def _standard(
    pairs: Sequence[Pair], beside: Sequence[Pair], force: bool, lanes: int | None = None
) -> list[Piece]:
    # The standard suite; `beside` are for its batches. Grids of so many instances are judged in lanes.
    for verifier, _ in pairs:
        if verifier.rounding is not None:  # milliseconds a draft
            raise BadInput(
                f"{verifier.name}: is too slow for the standard suite, since it computes in floats; name "
                f"instances, or: draftproof audit {verifier.name}"
            )
    return [*pieces(standard(), pairs, force, lanes), *pieces(standard_batches(), beside)]


def _measured(families: list[Any], pairs: Sequence[Pair], force: bool) -> list[Piece]:
    if any(isinstance(family[0], Batch) for family in families):
        raise BadInput("--against judges one request; a batch is judged against p")
    made = pieces(families or measured(), pairs, force)
    return [piece for piece in made if piece.pairs]


def _pairs(against: str | None, names: tuple[str, ...]) -> list[Pair]:
    # Each verifier with the declared target that it is judged against.
    names = tuple(dict.fromkeys(names))
    if against is None:
        return [(verifier, None) for verifier in [*map(named, names)] or VERIFIERS.values()]
    if against == OWN:
        pairs: list[Pair] = [(law.rule, law) for law in [*map(declared, names)] or TARGETS.values()]
    else:
        law = declared(against)
        if not names and law == ITSELF:
            raise BadInput(f"--against {against} needs --verifier")
        pairs = [(named(name), law) for name in names] or [(law.rule, law)]
    for verifier, _ in pairs:
        must_measure(verifier)
    return pairs


def _fits(given: Instance | Batch, verifier: Verifier, named: bool) -> bool:
    # Whether a given instance is small enough: if not, it is left out, or refused if the verifier was named.
    try:
        return isinstance(given, Batch) or size(given, verifier) > 0
    except BadInput as error:
        if named:
            raise
        click.echo(f"left out: {error}", err=True)
        return False


@dataclass
class _Found:
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)  # (selection rule or "", verifier)
    results: list[dict[str, Any]] = field(default_factory=list)
    instances: int = 0
    left: int = 0
    uncertified: int = 0
    seconds: float = 0.0


def _enumerate(
    work: Sequence[Piece], jobs: int, keep: bool, every: bool, certificate: TextIO | None
) -> _Found:
    # With `keep` results are kept: all of them if `every` is set, else the first wrong one of each verifier.
    run: Any = certified if certificate else judged
    started = monotonic()
    found = _Found()
    found.left = sum(piece.instances for piece in work)
    with screen.progress() as bar:
        task = bar.add_task("enumerating", total=sum(piece.effort for piece in work), done=0, all=found.left)
        try:
            for piece, verdicts in shared(run, work, min(jobs, 1 + len(work) // 8)):
                if certificate:
                    verdicts, lines = verdicts
                    certificate.writelines(lines)
                    found.uncertified += len(verdicts) - sum(line.startswith('{"law"') for line in lines)
                for (index, judgement), (verifier, law) in zip(verdicts, cycle(piece.pairs), strict=False):
                    rule = RULES[judgement.selection] if isinstance(judgement, BatchVerdict) else None
                    key = rule.name if rule else "", verifier.name
                    tally = found.tallies.setdefault(key, Tally(verifier, rule, law=law))
                    many = isinstance(judgement, Many)
                    if many:
                        tally.count(judgement, piece)
                    for at, verdict in judgement.others if many else [(index, judgement)]:
                        first_wrong = not verdict.lossless and tally.found_lossless
                        tally.add(verdict, piece, at)
                        if keep and (every or first_wrong):
                            found.results.append(_result(verdict, piece))
                found.instances += piece.instances
                found.left -= piece.instances
                bar.update(task, advance=piece.effort, done=found.instances)
        except KeyboardInterrupt:
            found.left = max(found.left, 1)
        except BrokenProcessPool:
            click.echo(
                "draftproof: a worker process died (out of memory?); the results so far follow", err=True
            )
    found.seconds = round(monotonic() - started, 3)
    found.tallies = dict(sorted(found.tallies.items()))
    return found


def _show(found: _Found, work: Sequence[Piece], ok: bool, own: bool) -> None:
    tallies = list(found.tallies.values())
    for tally in tallies:
        failing, law = tally.failing(), tally.law
        if failing is not None and (law is None or law.kept or not own):
            judge = partial(judge_any, verifier=tally.verifier, law=law)
            screen.say(screen.smallest(*smallest(failing, judge)))
    alone, batches = ([tally for tally in tallies if bool(tally.rule) == beside] for beside in (False, True))
    if alone and alone[0].law is not None:
        screen.console().print(screen.declarations(alone))
    elif alone or not batches:
        screen.console().print(screen.verdicts(alone))
    if batches:
        screen.console().print(screen.verdicts(batches, batches=True))
    for line in screen.unseen((tally.verifier.name, tally.not_shown) for tally in tallies):
        screen.say(line)
    laws = sum(tally.instances for tally in tallies)
    conclusion = "every verdict is as declared" if ok else "NOT every verdict is as declared"
    if not found.instances:
        conclusion = "no verdict yet"
    left = f"; interrupted with {found.left:,} instances left" if found.left else ""
    size = f" (V = {_spread(work, 'vocab')}, depth {_spread(work, 'depth')})" if found.instances else ""
    count = f"{counted(found.instances, 'instance')}, {counted(laws, 'exact law')}{size}"
    again = [tally.by_rationals for tally in tallies if tally.by_rationals is not None]
    lanes = f"; {sum(again):,} lanes decided by rationals" if again else ""
    screen.say(f"{count} in {found.seconds:.1f} s: {conclusion}{left}{lanes}")


def _spread(work: Sequence[Piece], size: str) -> str:
    values = [getattr(piece, size) for piece in work]
    least, most = min(values), max(values)
    return f"{least}" if least == most else f"{least} to {most}"


def _result(verdict: Verdict, piece: Piece) -> dict[str, Any]:
    # A row of the results, as docs/api.md describes it.
    unseen = not_shown(piece.depth, piece.vocab) if verdict.lossless else ""
    row = verdict.to_dict()
    del row["witness"]
    return row | ({"not_shown": unseen} if unseen else {})


def _summary(tally: Tally) -> dict[str, Any]:
    return {
        "verifier": tally.verifier.name,
        "drafts": sorted(tally.drafts),
        "instances": tally.instances,
        "lossless": tally.lossless,
        "declared": tally.declared,
        "total_variation": text(tally.worst),
        **({"not_shown": tally.not_shown} if tally.not_shown else {}),
        **({} if tally.by_rationals is None else {"by_rationals": tally.by_rationals}),
        **({"selection": tally.rule.name, "marginal": text(tally.worst_alone)} if tally.rule else {}),
        **(distances(tally.law, tally.token, tally.block) | {"met": tally.kept} if tally.law else {}),
    }
