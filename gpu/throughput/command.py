"""`draftproof gpu bench --model`: how fast decoding is, and how many tokens a step it gains."""

import json
from pathlib import Path
from time import monotonic
from typing import Any

import click
import torch

from draftproof.gpu.device import described, memory_errors
from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.figure import required
from draftproof.gpu.graphs import recording
from draftproof.gpu.prompts import prompts
from draftproof.gpu.structures import structure
from draftproof.gpu.throughput import show
from draftproof.gpu.throughput.plot import plot
from draftproof.gpu.throughput.run import DRAFTS, Bench, Plan
from draftproof.gpu.verify import VERIFIERS, named
from draftproof.simulators import screen
from draftproof.simulators.commands.entry import INTERRUPTED
from draftproof.theory.errors import BadInput


def measure(options: dict[str, Any]) -> int:
    """The whole command, from its options to its exit status."""
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


def _prepared(options: dict[str, Any]) -> Bench:
    structures = [structure(each) for each in options["draft"] or DRAFTS]
    verifiers = [named(name) for name in options["verifier"] or VERIFIERS]
    dtype = getattr(torch, options["dtype"]) if options["dtype"] else None
    target, drafter = pair(options["model"], options["drafter"], options["device"], dtype)
    if drafter is None:
        raise BadInput("--drafter none: plain decoding is measured beside any drafter; name one")
    asked = {
        "tokens": options["max_new_tokens"],
        "repeats": options["repeats"],
        "seed": options["seed"],
        "temperatures": options["temperature"],
    }
    plan = Plan(**{key: value for key, value in asked.items() if value not in (None, ())})
    given = prompts(options["prompts"], target, options["count"] or 4)
    return Bench(target, drafter, structures, verifiers, given, plan)
