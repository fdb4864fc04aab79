"""The command `gpu bench`: verification from logits or, with --model, decoding."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic
from typing import Any

from click import FloatRange, IntRange, command, echo, option

from draftproof.gpu.commands import options as shared
from draftproof.gpu.commands.measuring import loaded, measured, status
from draftproof.gpu.sampling import names as spelling
from draftproof.simulators import screen
from draftproof.theory.errors import BadInput

FOR_KERNELS = ("vocab",)
FOR_MODELS = (
    *("drafter", "verifier", "temperature", "prompts", "count", "repeats", "max_new_tokens", "settings"),
)
WITHOUT_MODEL = re.compile(r"(chain|tree\+?|strata)(:([1-9]|[12][0-9]|3[0-2]))?")


@command("bench")
@shared.device
@option(
    "--draft",
    multiple=True,
    help="chain, tree, tree+ or strata, or chain:8, 8 tokens deep (at most 32) [default: 4 and 8]; with "
    "--model as for `gpu generate`. May be repeated.",
)
@option("--vocab", type=IntRange(2, 2**20), multiple=True, metavar="V", help="May be repeated.")
@option(
    "--batch",
    type=IntRange(1, 2**16),
    multiple=True,
    metavar="B",
    help="May be repeated. With --model: texts decoded at once; as one ends, the next begins [default: 1].",
)
@option("--model", help="Decode with real models: a target as for `gpu generate`, or shipped.")
@option("--drafter", help="With --model: as for `gpu generate`.")
@option(
    "--verifier",
    type=shared.VERIFIER,
    multiple=True,
    help="With --model; may be repeated [default: all that apply].",
)
@option("--temperature", type=FloatRange(0), multiple=True, help="With --model [default: 0.2, 0.6, 1].")
@option("--prompts", type=shared.FILE, help="With --model: a file of prompts or questions, with all turns.")
@option("--count", type=IntRange(1), help="With --model: largest number of questions [default: 4].")
@option("--repeats", type=IntRange(1), help="With --model: repeats of each cell [default: 3].")
@option("--max-new-tokens", type=IntRange(1), help="With --model: length of each text [default: 64].")
@shared.settings(
    option("--top-k", type=IntRange(min=0)),
    *shared.SAMPLING,
    shared.selections,
    *shared.BUDGET,
    shared.chat,
    option("--seed", type=IntRange(0)),
    shared.dtype,
    shared.no_graphs,
    shared.no_row_test,
)
@shared.as_json
def COMMAND(**options: Any) -> int:
    """Measure the speed of verification or, with --model, of decoding.

    Without --model: times verification from logits by the kernels, plain torch and other packages, and
    compares it with the bandwidth floor, one read of each logit at the copy bandwidth measured in the same
    run. On a GPU: V 32k, 128k and 256k, gamma 4 and 8, B 1, 8, 64 and 256, bfloat16, a chain, and trees of
    64 nodes drawn without replacement (tree), with it (tree+) and from strata. Without a GPU: a smaller grid
    of plain torch and transformers. Ratios are to the case's first method. Exit status 1 if a case did not
    fit into memory or one of our own methods did not run; a package that is not installed is no failure.

    With --model: measures tokens a second, time to the first token and between tokens, mean acceptance
    length (with the extra token), acceptance by position, and time by phase for every verifier, draft,
    temperature and batch, for plain decoding, and for transformers' own plain and assisted generation, which
    decode one text at a time. All use the same prompts, repeats are interleaved, and ratios have intervals.
    Verifiers are compared on their own texts and on the same steps. With a selection, chains are also decoded
    in batches that share a budget. Each cell's mean acceptance length is compared with the prediction from
    its rows; exit status 1 if they disagree. Ctrl-C prints what was measured so far.
    """
    with_model = options["model"] is not None
    for name in FOR_KERNELS if with_model else FOR_MODELS:
        if options[name] not in (None, ()):
            kind = "without" if with_model else "with"
            raise BadInput(f"--{name.replace('_', '-')} is for runs {kind} --model only")
    for draft in options["draft"]:
        if with_model:
            spelling.draft(draft)
        elif not WITHOUT_MODEL.fullmatch(draft):
            raise BadInput(f"--draft {draft}: without --model it is chain, tree, tree+ or strata, or chain:8")
    return _decoding(options) if with_model else _verification(options)


def _verification(options: dict[str, Any]) -> int:
    from draftproof.gpu.bench import kernels, timing
    from draftproof.gpu.sampling.device import described, usable

    on = usable(options["device"])
    if on.type not in ("cuda", "cpu"):
        raise BadInput(f"--device {options['device']}: without --model it is cuda or cpu, which can be timed")
    asked = {name: options[name] for name in ("vocab", "batch", "draft") if options[name]}
    grid = replace(kernels.FULL if on.type == "cuda" else kernels.ON_CPU, **asked)
    if on.type != "cuda":
        echo("no GPU is used: a smaller grid, without the kernels and the packages that need a GPU", err=True)
    bandwidth: float | None = None

    def run() -> "Iterator[kernels.Point]":
        nonlocal bandwidth
        bandwidth = timing.copy_bandwidth(on)
        yield from kernels.run(grid, on, bandwidth)

    points, stop = measured(
        run(),
        "measurements",
        grid.total(on),
        lambda point: f"{point.draft} gamma {point.gamma} V {point.V:,} B {point.B} {point.method}",
        "take a smaller --vocab or --batch",
    )
    missing = kernels.missing(points)
    if options["as_json"]:
        answer = {
            "device": described(on),
            "gpu": on.type == "cuda",
            "copy_bytes_per_second": bandwidth,
            "complete": stop is None,
            "ok": stop is None and not missing,
            "points": [asdict(point) for point in points],
        }
        echo(json.dumps(answer))
    elif bandwidth is not None:
        screen.console().print(kernels.table(points))
        echo(f"{described(on)}; copy bandwidth {bandwidth / 1e9:,.1f} GB/s")
    if missing and stop is None:
        echo(f"{len(missing)} of {len(points)} measurements could not be made", err=True)
    return status(stop, "what was measured is above", bool(missing))


def _decoding(options: dict[str, Any]) -> int:
    from draftproof.gpu.bench import report
    from draftproof.gpu.network.graphs import recording
    from draftproof.gpu.sampling.device import described, memory_errors

    started = monotonic()
    with memory_errors("take a smaller model or another --device"):
        bench = _bench(options)
    _, stop = measured(
        bench.run(),
        "runs",
        bench.total,
        lambda cell: f"T {cell.temperature:g} {cell.draft} {cell.method}",
        "what was measured is above; take fewer drafts or shorter texts",
    )
    on, target, drafter = bench.target.device, bench.target.name, bench.drafter.name
    rows, versus = report.rows_of(bench.cells), report.versus_of(bench.cells)
    failed = any(row["problems"] for row in rows)
    if options["as_json"]:
        answer = {
            "model": target,
            "drafter": drafter,
            "device": described(on),
            "gpu": on.type == "cuda",
            "graphs": recording(on) is not None,
            "seconds": round(monotonic() - started, 1),
            "complete": stop is None,
            "plan": asdict(bench.plan),
            "ok": not failed,
            "cells": rows,
            "versus": versus,
        }
        echo(json.dumps(answer))
    elif rows:
        short = ("/".join(Path(name).parts[-2:]) for name in (target, drafter))
        title = f"{' with '.join(short)} on {described(on)}"
        screen.console().print(*report.tables(rows, versus, title))
        echo(report.notes(rows))
    return status(stop, "what was measured is above", failed)


def _bench(options: dict[str, Any]) -> Any:
    from draftproof.gpu.bench.models import DRAFTS, Bench, Plan
    from draftproof.gpu.commands.settings import rules, samplings, selection
    from draftproof.gpu.engine.prompts import prompts

    most = max(options["batch"], default=1)
    selections = [selection(options, name, None) for name in rules(options)]
    target, drafter, structures, verifiers = loaded(options, DRAFTS, "plain decoding is always measured too")
    asked = {
        "tokens": options["max_new_tokens"],
        "batches": options["batch"],
        "repeats": options["repeats"],
        "seed": options["seed"],
        "temperatures": options["temperature"],
    }
    plan = Plan(**{key: value for key, value in asked.items() if value not in (None, ())})
    both = samplings({**options, "temperature": None}, target)
    count = options["count"] or max(4, most)
    given = prompts(options["prompts"], target, count, chat=options["chat"], answer=plan.tokens)
    if len(given) < most:
        raise BadInput(f"--batch {most}: there are only {len(given)} prompts; give a larger --count")
    settings = *both, options["draft_temperature"]
    return Bench(target, drafter, structures, verifiers, given, plan, selections, *settings)
