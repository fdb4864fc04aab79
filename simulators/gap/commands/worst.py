"""`gap --worst`: the search for the largest gap."""

import json

import click
from flint import fmpq

from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.simulators.gap import table, worst
from draftproof.simulators.gap.measure import measure
from draftproof.simulators.instances.files import document
from draftproof.theory.drafts import Scheme
from draftproof.theory.verifier import Verifier


def worst_instance(
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
