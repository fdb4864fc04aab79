"""The command `gpu verify`."""

import json
from time import monotonic

import click

from draftproof.gpu.commands import options as shared
from draftproof.simulators import screen


@click.command("verify")
@shared.device
@click.option("--vocab", type=click.IntRange(2, 2**20), default=32_768, help="Large vocabulary.")
@click.option("--seed", type=int, default=0, help="Seed of the logits at --vocab.")
@shared.json_option
def COMMAND(device: str | None, vocab: int, seed: int, as_json: bool) -> int:
    """Check that the batched verifiers decide as the exact engine does.

    Makes two comparisons. (1) The same noise gives the same decision, on every instance and draft of the
    standard suite and on both sides of every threshold. (2) At a real vocabulary size float32 decides as
    float64 does. The Triton kernels are compared too: compiled on a GPU, elsewhere on a few cases in Triton's
    interpreter. Exit status 0 if all hold, 1 if one does not, 2 for bad input. Ctrl-C
    prints what was compared so far.
    """
    from draftproof.gpu.checks.against_exact.run import Report, fill

    started = monotonic()
    report = Report.on(device)
    _, stop = shared.measured(fill(report, vocab, seed), "comparisons", None, str, "take a smaller --vocab")
    seconds = round(monotonic() - started, 1)
    if as_json:
        click.echo(json.dumps(report.answer() | {"complete": stop is None, "seconds": seconds}))
    else:
        for table in report.tables():
            screen.console().print(table)
        screen.say(f"{report.summary()} {seconds:.1f} s on {report.device}")
    return shared.status(stop, "what was compared is above", not report.ok)
