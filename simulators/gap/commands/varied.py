"""`gap --vary`: a figure and its numbers."""

import json
from collections.abc import Sequence
from pathlib import Path

import click

from draftproof.simulators import screen
from draftproof.simulators.figures import required
from draftproof.simulators.gap import plot, table
from draftproof.simulators.gap.ensemble import VARIED, vary
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.verifier import Verifier


def varied(
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
