"""The command `gpu verify`."""

import json
from contextlib import suppress
from time import monotonic

import click

from draftproof.gpu.options import as_json, device
from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED


@click.command("verify")
@device
@click.option(
    "--vocab", type=click.IntRange(2, 2**20), default=32_768, show_default=True, help="Large vocabulary."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the large logits.")
@as_json
def COMMAND(device: str | None, vocab: int, seed: int, as_json: bool) -> int:
    """Are the batched verifiers those of the exact engine?

    Three ties. The same noise gives the same decision, on every instance and draft of the standard
    suite and on both sides of every threshold. The exact law of the rounded algorithm, from float32
    and bfloat16 rows, is at the target up to rounding. At a real vocabulary size float32 decides as
    float64 does. The Triton kernels go through the first and the last: compiled on a GPU, elsewhere a
    few cases in Triton's interpreter. Exit status 0 when all hold, 1 when one does not, 2 for bad input.
    Ctrl-C prints what was compared.
    """
    from draftproof.gpu.device import memory_errors
    from draftproof.gpu.exact.run import Report, fill

    started = monotonic()
    report = Report.on(device)
    with screen.progress() as bar, suppress(KeyboardInterrupt), memory_errors("take a smaller --vocab"):
        task = bar.add_task("comparing", total=None, done=0, all=0)

        def tell(stage: str, done: int, of: int) -> None:
            bar.update(task, description=stage, completed=done, total=of, done=done, all=of)

        fill(report, vocab, seed, tell)
    seconds = round(monotonic() - started, 1)
    if as_json:
        click.echo(json.dumps({**report.answer(), "seconds": seconds}))
    else:
        screen.console().print(report.table())
        screen.console().print(report.kernels.table())
        click.echo(f"{report.summary()} {seconds:.1f} s on {report.device}")
    if not report.complete:
        click.echo("interrupted: what was compared is above", err=True)
        return INTERRUPTED
    return int(not report.ok)
