"""The command `prove`."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from draftproof.proofs_check.api import prove as prove_size
from draftproof.proofs_check.api import usual
from draftproof.proofs_check.cells.solver import OutOfTime
from draftproof.proofs_check.certificate import Run
from draftproof.proofs_check.every_size import Result
from draftproof.proofs_check.prove import Proof
from draftproof.simulators import screen
from draftproof.simulators.commands.options import certificate_option, json_option
from draftproof.simulators.instances.files import document, draft_of
from draftproof.simulators.laws.certificate import of_instance, of_law
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.verdicts.against import judge_against
from draftproof.simulators.user_code import named
from draftproof.theory.errors import BadInput
from draftproof.theory.shared.reportable import spelled as spelled_word
from draftproof.theory.targets import ITSELF, declared

STATUS = {"proved": 0, "refuted": 1, "undecided": 3}
DRAWN = {"chain": "one drafted chain", "any": "drafts of any kind"}
"""How the children of a node are drawn, in words."""


@click.command()
@click.argument("verifier", metavar="VERIFIER")
@click.option("--vocab", type=click.IntRange(2, 16), help="Vocabulary size [default: 2].")
@click.option("--depth", type=click.IntRange(1, 16), help="Draft depth [default: 2].")
@click.option("--draft", "spelled", metavar="JSON", help="The draft object of an instance file.")
@click.option(
    "--against", metavar="LAW", help="At one size: a declared law in place of p, such as interpolation:1/4."
)
@click.option("--every-size", is_flag=True, help="For every vocabulary and depth.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="Time limit, in CPU seconds: a busy machine changes no verdict.",
)
@certificate_option
@json_option
def prove(
    verifier: str,
    vocab: int | None,
    depth: int | None,
    spelled: str | None,
    against: str | None,
    every_size: bool,
    seconds: float,
    certificate: Path | None,
    as_json: bool,
) -> int:
    """Is the verifier lossless for ALL real p and q, zeros included?

    VERIFIER is a name, or one of your own as file.py:name or package.module:name.
    At one size by cells of signs, which run the verifier's code, on a tree of two children at every node
    if it is made for trees; with --against for a declared law in
    place of the target's (VERIFIER may be such a rule, by its name). With --every-size the code is run on
    rows of any vocabulary, by induction. Seconds are CPU seconds. Exit status 0 proved, 1 refuted (with p
    and q), 3 undecided, 2 bad input. A certificate is of the refutation, or of the proof of one size.
    """
    rule = named(verifier)
    law = ITSELF if against is None else declared(against)
    if certificate and every_size:
        raise BadInput("--certificate goes without --every-size")
    if every_size:
        if (vocab, depth, spelled, against) != (None,) * 4:
            raise BadInput("--every-size goes without --vocab, --depth, --draft and --against")
        found = prove_size(rule, seconds=seconds, every_size=True)
        assert isinstance(found, Result)
        answer, lines = found.to_dict(), _every_size(found)
    elif spelled is not None and depth is not None:
        raise BadInput("--depth and --draft exclude each other")
    else:
        scheme = usual(rule, depth or 2) if spelled is None else draft_of(spelled)
        proof = prove_size(rule, scheme, vocab or 2, seconds, law)
        assert isinstance(proof, Proof)
        answer, lines = proof.to_dict(), _lines(proof)
        if certificate and (wrong := proof.counterexample):
            found = judge_against(wrong, rule, law) if against else judge(wrong, rule, 1)
            of = law if against else None
            certificate.write_text(
                of_instance(wrong, of) + of_law(wrong, rule, found, int(rule.carry is not None), of)
            )
        elif certificate and proof.verdict == "proved" and proof.domain:
            try:
                certificate.write_text(Run(proof.domain, rule, scheme, law).line())
            except OutOfTime:
                click.echo("no certificate: out of time", err=True)
        elif certificate:
            click.echo(f"no certificate: {proof.why}", err=True)
    screen.answer(answer, "\n".join(lines), as_json)
    return STATUS[answer["verdict"]]


def _lines(proof: Proof) -> Iterator[str]:
    yield str(proof)
    if proof.counterexample is not None:
        wrong = "another law" if proof.against else "not lossless"
        yield f"{wrong} on\n  {json.dumps(document(proof.counterexample))}"
        if proof.why:
            yield f"  {proof.why}"
    if proof.not_shown and proof.verdict != "refuted":
        yield proof.not_shown
    if proof.verdict == "undecided":
        yield proof.why
        if proof.left:
            words = ", ".join(repr(spelled_word(word)) for word in proof.left[:8])
            more = f" and {len(proof.left) - 8} more" if len(proof.left) > 8 else ""
            yield f"words left: {words}{more}"


def _every_size(found: Result) -> list[str]:
    return [
        *(f"  a theorem in Rocq about this very code: {each}" for each in [found.theorem] if each),
        *(f"  its code was run on: {DRAWN[mode]}" for mode in found.drafts),
        *(f"  proved by induction: {claim}" for claim in found.claims),
        *(f"  assumed, tested apart: {each}" for each in found.assumed),
        str(found),
    ]
