"""The command `gpu bench`."""

import json
from pathlib import Path

import click

from simulators import screen
from simulators.door import INTERRUPTED


@click.command("bench")
@click.option("--device", help="A torch device, such as cuda:0 [default: cuda where there is one, else cpu].")
@click.option("--vocab", type=click.IntRange(2, 2**20), multiple=True, metavar="V", help="May be repeated.")
@click.option("--gamma", type=click.IntRange(1, 32), multiple=True, metavar="G", help="May be repeated.")
@click.option("--batch", type=click.IntRange(1, 2**16), multiple=True, metavar="B", help="May be repeated.")
@click.option("--draft", type=click.Choice(["chain", "tree"]), multiple=True, help="May be repeated.")
@click.option(
    "--plot", "figure", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="A figure too."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def COMMAND(
    device: str | None,
    vocab: tuple[int, ...],
    gamma: tuple[int, ...],
    batch: tuple[int, ...],
    draft: tuple[str, ...],
    figure: Path | None,
    as_json: bool,
) -> int:
    """How fast verification from logits is, beside the bandwidth floor, plain torch and peers.

    On a GPU: V 32k, 128k and 256k, gamma 4 and 8, B 1, 8, 64 and 256, chain and tree, bfloat16. Without
    one: a smaller grid of plain torch and transformers. The floor is one read of each logit at the
    copy bandwidth measured in the same run; ratios are to the case's first method. Ctrl-C prints what
    was measured.
    """
    from gpu.kernel_bench import run, show, timing

    on = run.device_of(device)
    if figure is not None:
        show.required(figure)
    whole = run.FULL if on.type == "cuda" else run.ON_CPU
    grid = run.shorter(whole, vocab=vocab, gamma=gamma, batch=batch, drafts=draft)
    if on.type != "cuda":
        click.echo(
            "no GPU is used: a smaller grid, without the kernels and the peers that need one", err=True
        )
    points: list[run.Point] = []
    bandwidth, complete = None, False
    try:
        with screen.console(stderr=True).status("copy bandwidth") as status:
            bandwidth = timing.copy_bandwidth(on)
            for point in run.run(grid, on, bandwidth):
                points.append(point)
                status.update(f"{point.draft} gamma {point.gamma} V {point.V:,} B {point.B} {point.method}")
        complete = True
    except KeyboardInterrupt:
        click.echo("interrupted: what was measured follows", err=True)
    if as_json:
        click.echo(json.dumps(show.document(points, on, bandwidth, complete)))
    elif bandwidth is not None:
        screen.console().print(show.table(points))
        click.echo(f"{show.described(on)}; copy bandwidth {bandwidth / 1e9:,.1f} GB/s")
    if figure is not None and points:
        show.plot(points, figure, on)
    return 0 if complete else INTERRUPTED
