"""The command `gpu bench`."""

import json
from pathlib import Path
from time import monotonic
from typing import Any

import click

from gpu.commands import no_graphs
from simulators import screen
from simulators.door import INTERRUPTED
from theory.errors import BadInput

FOR_KERNELS = ("vocab", "gamma", "batch")
FOR_MODELS = (
    "drafter",
    "verifier",
    "temperature",
    "prompts",
    "count",
    "repeats",
    "max_new_tokens",
    "seed",
    "dtype",
)


@click.command("bench")
@click.option("--device", help="A torch device, such as cuda:0 [default: cuda where there is one, else cpu].")
@click.option(
    "--draft", multiple=True, help="chain or tree; with --model as for `gpu generate`. May be repeated."
)
@click.option("--vocab", type=click.IntRange(2, 2**20), multiple=True, metavar="V", help="May be repeated.")
@click.option("--gamma", type=click.IntRange(1, 32), multiple=True, metavar="G", help="May be repeated.")
@click.option("--batch", type=click.IntRange(1, 2**16), multiple=True, metavar="B", help="May be repeated.")
@click.option("--model", help="Decode with real models: a target as for `gpu generate`, or shipped.")
@click.option("--drafter", help="With --model: as for `gpu generate`.")
@click.option("--verifier", multiple=True, help="With --model; may be repeated [default: all that apply].")
@click.option(
    "--temperature", type=click.FloatRange(0), multiple=True, help="With --model [default: 0.2, 0.6, 1]."
)
@click.option(
    "--prompts",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --model: one a line, or Spec-Bench's.",
)
@click.option("--count", type=click.IntRange(1), help="With --model: prompts at most [default: 4].")
@click.option("--repeats", type=click.IntRange(1), help="With --model [default: 3].")
@click.option("--max-new-tokens", type=click.IntRange(1), help="With --model: of each text [default: 64].")
@click.option("--seed", type=click.IntRange(0), help="With --model: of the first repeat [default: 0].")
@click.option("--dtype", type=click.Choice(["float32", "bfloat16", "float16"]), help="With --model.")
@click.option(
    "--plot", "figure", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="A figure too."
)
@no_graphs
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
def COMMAND(**options: Any) -> int:
    """How fast verification is; with --model, how fast decoding is, and how many tokens a step it gains.

    Without --model: verification from logits, beside the bandwidth floor, plain torch and peers. On a GPU:
    V 32k, 128k and 256k, gamma 4 and 8, B 1, 8, 64 and 256, chain and tree, bfloat16. Without one: a smaller
    grid of plain torch and transformers. The floor is one read of each logit at the copy bandwidth measured
    in the same run; ratios are to the case's first method. Exit status 1 when a case did not fit into memory,
    or one of our own methods did not run; a peer that is not there is no fault.

    With --model: tokens a second, mean acceptance length (the extra token counted), acceptance by
    position, time by phase, for every verifier, draft and temperature, beside plain decoding and
    transformers' own plain and assisted generation: same prompts, repeats interleaved, ratios with
    intervals. Each cell's mean acceptance length stands beside the one that its own rows predict; exit
    status 1 when a cell's do not agree. Verifiers are compared on their own texts, and on the same steps.

    Ctrl-C prints what was measured.
    """
    other = FOR_MODELS if options["model"] is None else FOR_KERNELS
    given = next((name for name in other if options[name] not in (None, ())), None)
    if given is not None:
        only = "with --model only" if options["model"] is None else "without --model only"
        raise BadInput(f"--{given.replace('_', '-')} is for runs {only}")
    return _kernels(options) if options["model"] is None else _models(options)


def _kernels(options: dict[str, Any]) -> int:
    from gpu.device import usable
    from gpu.kernel_bench import run, show, timing

    on = usable(options["device"])
    if on.type not in ("cuda", "cpu"):
        raise BadInput(f"--device {options['device']}: without --model it is cuda or cpu, which can be timed")
    figure = options["figure"]
    if figure is not None:
        show.required(figure)
    for draft in options["draft"]:
        if draft not in ("chain", "tree"):
            raise BadInput(f"--draft {draft}: without --model it is chain or tree")
    whole = run.FULL if on.type == "cuda" else run.ON_CPU
    asked = {name: options[name] for name in FOR_KERNELS}
    grid = run.shorter(whole, **asked, drafts=options["draft"])
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
        click.echo(f"{show.described(on)}; copy bandwidth {bandwidth / 1e9:,.1f} GB/s")
    if figure is not None and points:
        show.plot(points, figure, on)
    if not complete:
        return INTERRUPTED
    lost = show.missing(points)
    if lost:
        click.echo(f"{len(lost)} of {len(points)} measurements could not be made", err=True)
    return int(bool(lost))


def _models(options: dict[str, Any]) -> int:
    from gpu.engine.recorder import recording
    from gpu.kernel_bench.show import described, required
    from gpu.memory import memory_errors
    from gpu.throughput import show
    from gpu.throughput.plot import plot

    started = monotonic()
    if options["figure"] is not None:
        required(options["figure"])
    with memory_errors("take a smaller model or another --device"):
        bench = _prepared(options)
    status: int | None = None
    error: BadInput | None = None
    with screen.progress("runs") as bar:
        task = bar.add_task("warming up", total=bench.total)
        try:
            with memory_errors("what was measured is above; take fewer drafts or shorter texts"):
                for done, cell in enumerate(bench.run(), 1):
                    said = f"T {cell.temperature:g} {cell.draft} {cell.method}"
                    bar.update(task, description=said, completed=done)
        except KeyboardInterrupt:
            status = INTERRUPTED
        except BadInput as raised:
            error = raised
    cells, device = bench.cells, described(bench.target.device)
    name = f"{_short(bench.target.name)} with {_short(bench.drafter.name)} on {device}"
    if options["as_json"] and (cells or error is None):
        about = {
            "model": bench.target.name,
            "drafter": bench.drafter.name,
            "device": device,
            "gpu": bench.target.device.type == "cuda",
            "graphs": recording(bench.target.device) is not None,
            "seconds": round(monotonic() - started, 1),
            "complete": status is None and error is None,
        }
        click.echo(json.dumps(show.document(cells, bench.plan, about)))
    elif cells:
        screen.console().print(*show.tables(cells, name))
        click.echo(show.notes(cells))
    if options["figure"] is not None and cells:
        plot(cells, options["figure"], name)
    if error is not None:
        raise error
    if status is not None:
        click.echo("interrupted: what was measured is above", err=True)
        return status
    return int(any(row["problems"] for row in show.rows(cells)))


def _short(name: str) -> str:
    return "/".join(Path(name).parts[-2:])


def _prepared(options: dict[str, Any]) -> Any:
    import torch

    from gpu.drafters.choose import pair
    from gpu.prompts import prompts
    from gpu.structures import structure
    from gpu.throughput.run import TEMPERATURES, Bench, Plan, default_drafts
    from gpu.verify import VERIFIERS, named

    structures = [structure(each) for each in options["draft"]]
    verifiers = [named(each) for each in options["verifier"]] or list(VERIFIERS.values())
    dtype = getattr(torch, options["dtype"]) if options["dtype"] else None
    target, drafter = pair(options["model"], options["drafter"], options["device"], dtype)
    if drafter is None:
        raise BadInput("--drafter none: plain decoding is measured beside any drafter; name one")
    asked = {
        "tokens": options["max_new_tokens"],
        "repeats": options["repeats"],
        "seed": options["seed"],
        "temperatures": options["temperature"] or TEMPERATURES,
    }
    plan = Plan(**{key: value for key, value in asked.items() if value is not None})
    given = prompts(options["prompts"], target, options["count"] or 4)
    return Bench(target, drafter, structures or default_drafts(drafter), verifiers, given, plan)
