"""The command `prove`."""

import json
from collections.abc import Iterator
from math import isnan
from typing import Any

import click

from draftproof.proofs_check.api import must_run, usual
from draftproof.proofs_check.every_size import Result, prove_every_size
from draftproof.proofs_check.prove import Proof
from draftproof.proofs_check.prove import prove as prove_size
from draftproof.simulators.commands.options import json_option
from draftproof.simulators.instances.files import document, draft_of
from draftproof.simulators.instances.files import spelled as spelled_word
from draftproof.simulators.laws.against import must_measure
from draftproof.simulators.laws.batches import must_verify
from draftproof.simulators.laws.repeat import must_have_a_law
from draftproof.simulators.user_code import named
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.selection import named as selected
from draftproof.theory.targets import ITSELF, declared
from draftproof.theory.verifier import Verifier

STATUS = {"proved": 0, "refuted": 1, "undecided": 3}
EVERY_SIZE = "every vocabulary and depth"
DRAWN = {
    "chain": "one drafted chain",
    "with replacement": "trees whose siblings are drawn with replacement",
    "without replacement": "trees whose siblings are drawn without replacement, and merged paths",
    "any": "drafts of any kind",
}
"""How the children of a node are drawn, in words."""
PREDICTABLE = (
    "that a rule which decides by revealed tokens keeps the joint law is proved in Rocq (batch_lossless in "
    "proofs_check/rocq/Selection.v); that it reads no others, its view enforces whenever it runs"
)


@click.command()
@click.argument("verifier", metavar="VERIFIER")
@click.option("--vocab", type=click.IntRange(2, 16), help="Vocabulary size [default: 2].")
@click.option("--depth", type=click.IntRange(1, 16), help="Draft depth [default: 2].")
@click.option("--draft", "spelled", metavar="JSON", help="The draft object of an instance file.")
@click.option(
    "--against", metavar="LAW", help="At one size: a declared law in place of p, such as interpolation:1/4."
)
@click.option("--every-size", is_flag=True, help="For every vocabulary and depth.")
@click.option("--selection", metavar="RULE", help="With --every-size: a batch that this rule selects from.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="Time limit, in CPU seconds: a busy machine changes no verdict.",
)
@json_option
def prove(
    verifier: str,
    vocab: int | None,
    depth: int | None,
    spelled: str | None,
    against: str | None,
    every_size: bool,
    selection: str | None,
    seconds: float,
    as_json: bool,
) -> int:
    """Is the verifier lossless for ALL real p and q, zeros included?

    VERIFIER is a name, or one of your own as file.py:name or package.module:name.
    At one size by cells of signs, which run the verifier's code, on a tree of two children at every node
    if it is made for trees; with --against for a declared law in
    place of the target's (VERIFIER may be such a rule, by its name). With --every-size the code is run on
    rows of any vocabulary, by induction. Seconds are CPU seconds. Exit status 0 proved, 1 refuted (with p
    and q), 3 undecided, 2 bad input.
    """
    rule = named(verifier)
    law = ITSELF if against is None else declared(against)
    if isnan(seconds):
        raise BadInput("--seconds must be a number of seconds, not nan")
    if every_size:
        if (vocab, depth, spelled, against) != (None,) * 4:
            raise BadInput("--every-size goes without --vocab, --depth, --draft and --against")
        return _every_size(rule, seconds, as_json, selection)
    if selection is not None:
        raise BadInput("--selection goes with --every-size")
    vocab = 2 if vocab is None else vocab
    if spelled is not None and depth is not None:
        raise BadInput("--depth and --draft exclude each other")
    scheme = usual(rule, 2 if depth is None else depth) if spelled is None else draft_of(spelled)
    if scheme.label not in rule.drafts:
        raise BadInput(f"{rule.name} is made for {', '.join(rule.drafts)}, not for {scheme.label}")
    must_run(rule, scheme, vocab)
    if law != ITSELF:
        must_measure(rule)
    try:
        proof = prove_size(rule, scheme, vocab, seconds, law)
    except BadInput:
        raise
    except Exception as error:  # a failure of the prover refutes nothing
        proof = Proof(rule.name, f"vocab={vocab} {scheme}", "undecided", why=_failure(error))
        proof.against = "" if against is None else str(law)
    if proof.counterexample is not None:
        must_have_a_law(rule, proof.why)
    click.echo(json.dumps(_answer(proof)) if as_json else "\n".join(_lines(proof, rule, scheme)))
    return STATUS[proof.verdict]


def _failure(error: Exception) -> str:
    return f"the prover failed: {type(error).__name__}: {error}"


def _answer(proof: Proof) -> dict[str, Any]:
    return {
        "verifier": proof.verifier,
        "scope": proof.scope,
        "verdict": proof.verdict,
        "cells": proof.cells,
        "counterexample": proof.counterexample and document(proof.counterexample),
        "seconds": proof.seconds,
        "parameters": proof.parameters,
        "left": list(map(spelled_word, proof.left)),
        "why": proof.why,
        "not_shown": proof.not_shown,
        **({"against": proof.against} if proof.against else {}),
    }


def _lines(proof: Proof, rule: Verifier, scheme: Scheme) -> Iterator[str]:
    size = f"{proof.scope.split()[0]} depth={scheme.depth}"
    shape = f" {json.dumps(scheme.shape)}" if hasattr(scheme, "shape") else ""  # type: ignore[attr-defined]
    on = f" on a {scheme.label}{shape}" if len(rule.drafts) > 1 else ""
    against = f" against {proof.against}" if proof.against else ""
    took = f"({proof.cells:,} cells, {proof.parameters} parameters, {proof.seconds:.1f} s)"
    yield f"{proof.verifier}{on}{against}, {size}: {proof.verdict} {took}"
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


def _every_size(rule: Verifier, seconds: float, as_json: bool, selection: str | None) -> int:
    selects = None if selection is None else selected(selection)
    if selects is not None:
        must_verify(rule)
    must_run(rule)
    try:
        found = prove_every_size(rule, seconds)
    except Exception as error:
        found = Result(rule.name, why=_failure(error))
    if selects is not None and not selects.predictable:
        found.verdict = "undecided"
        found.why = f"{selects.name} reads tokens that it decides about; `law` and `check` judge such rules"
    answer, lines = _of_run(found, selects and selects.name)
    answer = {"verifier": found.verifier, "scope": EVERY_SIZE, "counterexample": None, **answer}
    click.echo(json.dumps(answer) if as_json else "\n".join(lines))
    return STATUS[found.verdict]


def _of_run(found: Result, selection: str | None) -> tuple[dict[str, Any], list[str]]:
    # What a run of the verifier's own code found, and of the rule's: the rest of the answer, and the lines.
    answer = {
        **({} if selection is None else {"selection": selection}),
        "verdict": found.verdict,
        "cells": found.cells,
        "seconds": found.seconds,
        "drafts": found.drafts,
        "claims": found.claims,
        "assumed": found.contracts,
        "why": found.why,
    }
    batch = "" if selection is None else f", batches selected by {selection}"
    return answer, [
        *(f"  its code was run on: {DRAWN[mode]}" for mode in found.drafts),
        *(f"  proved by induction: {claim}" for claim in found.claims),
        *(f"  assumed, tested apart: {contract}" for contract in found.contracts),
        f"{found.verifier}, {EVERY_SIZE}{batch}: {found.verdict} ({found.seconds:.1f} s)",
        *filter(None, [found.why]),
        *([f"  {PREDICTABLE}"] if selection and found.verdict == "proved" else []),
    ]
