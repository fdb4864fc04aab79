"""The command `gpu verify`."""

import json
from contextlib import suppress
from time import monotonic

import click

from draftproof.gpu.commands.options import device, json_option
from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED


@click.command("verify")
@device
@click.option("--vocab", type=click.IntRange(2, 2**20), default=32_768, help="Large vocabulary.")
@click.option("--seed", type=int, default=0, help="Seed of the logits at --vocab.")
@json_option
def COMMAND(device: str | None, vocab: int, seed: int, as_json: bool) -> int:
    """Check that the batched verifiers decide as the exact engine does.

    Makes two comparisons. (1) The same noise gives the same decision, on every instance and draft of the
    standard suite and on both sides of every threshold. (2) At a real vocabulary size float32 decides as
    float64 does. The Triton kernels are compared too: compiled on a GPU, elsewhere on a few cases in Triton's
    interpreter. Exit status 0 if all hold, 1 if one does not, 2 for bad input. Ctrl-C
    prints what was compared so far.
    """
    from draftproof.gpu.checks.against_exact.run import Report, fill
    from draftproof.gpu.sampling.device import memory_errors

    started = monotonic()
    report = Report.on(device)
    with screen.progress() as bar, suppress(KeyboardInterrupt), memory_errors("take a smaller --vocab"):
        task = bar.add_task("comparing", total=None, done=0, all=0)
        for stage, done, of in fill(report, vocab, seed):
            bar.update(task, description=stage, completed=done, total=of, done=done, all=of)
    seconds = round(monotonic() - started, 1)
    if as_json:
        click.echo(json.dumps({**report.answer(), "seconds": seconds}))
    else:
        for table in report.tables():
            screen.console().print(table)
        screen.say(f"{report.summary()} {seconds:.1f} s on {report.device}")
    if not report.complete:
        click.echo("interrupted: what was compared is above", err=True)
        return INTERRUPTED
    return int(not report.ok)
