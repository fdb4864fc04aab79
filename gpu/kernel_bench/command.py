"""`draftproof gpu bench`: how fast verification is."""

import json
from dataclasses import replace
from typing import Any

import click

from draftproof.gpu.device import described, usable
from draftproof.gpu.figure import required
from draftproof.gpu.kernel_bench import run, show, timing
from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.theory.errors import BadInput


def measure(options: dict[str, Any]) -> int:
    """The whole command, from its options to its exit status."""
    on = usable(options["device"])
    if on.type not in ("cuda", "cpu"):
        raise BadInput(f"--device {options['device']}: without --model it is cuda or cpu, which can be timed")
    figure = options["figure"]
    if figure is not None:
        required(figure)
    whole = run.FULL if on.type == "cuda" else run.ON_CPU
    asked = {name: options[name] for name in ("vocab", "gamma", "batch", "draft") if options[name]}
    grid = replace(whole, **asked)
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
    if options["as_json"]:
        click.echo(json.dumps(show.document(points, on, bandwidth, complete)))
    elif bandwidth is not None:
        screen.console().print(show.table(points))
        click.echo(f"{described(on)}; copy bandwidth {bandwidth / 1e9:,.1f} GB/s")
    if figure is not None and points:
        show.plot(points, figure, on)
    if not complete:
        return INTERRUPTED
    lost = show.missing(points)
    if lost:
        click.echo(f"{len(lost)} of {len(points)} measurements could not be made", err=True)
    return int(bool(lost))
