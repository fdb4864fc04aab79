"""The command `gpu bench`: verification from logits or, with --model, decoding."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from time import monotonic
from typing import Any

from click import FloatRange, IntRange, command, echo, option

from draftproof.gpu.commands.measuring import loaded, measured, status
from draftproof.gpu.commands.options import (
    DTYPE,
    FILE,
    VERIFIER,
    as_json,
    budget,
    chat,
    device,
    no_graphs,
    no_row_test,
    rule,
    sampling,
    stop,
)
from draftproof.gpu.sampling import names as spelling
from draftproof.simulators import screen
from draftproof.theory.errors import BadInput

FOR_KERNELS = ("vocab", "gamma")
FOR_RANDOM = "acceptance", "prompt_tokens"
WITHOUT_MODEL = "chain", "tree", "tree+", "strata"
FOR_BOTH = ("model", "device", "draft", "batch", "figure", "as_json")


@command("bench")
@device
@option(
    "--draft",
    multiple=True,
    help="chain, tree, tree+ or strata; with --model as for `gpu generate`. May be repeated.",
)
@option("--vocab", type=IntRange(2, 2**20), multiple=True, metavar="V", help="May be repeated.")
@option("--gamma", type=IntRange(1, 32), multiple=True, metavar="G", help="May be repeated.")
@option(
    "--batch",
    type=IntRange(1, 2**16),
    multiple=True,
    metavar="B",
    help="May be repeated. With --model: texts decoded at once; as one ends, the next begins [default: 1].",
)
@option("--model", help="Decode with real models: a target as for `gpu generate`, or shipped.")
@no_row_test
@option(
    "--drafter", help="With --model: as for `gpu generate`; with --random: a configuration [default: none]."
)
@option("--random", metavar="CONFIG", help="Decode with random weights of this config.json (or its folder).")
@option(
    "--acceptance",
    type=FloatRange(0, 1, min_open=True, max_open=True),
    help="With --random: of each drafted token, at temperature 1 [default: 0.8].",
)
@option("--prompt-tokens", type=IntRange(1), help="With --random: of each random prompt [default: 32].")
@option(
    "--verifier",
    type=VERIFIER,
    multiple=True,
    help="With --model; may be repeated [default: all that apply].",
)
@option("--temperature", type=FloatRange(0), multiple=True, help="With --model [default: 0.2, 0.6, 1].")
@option("--top-k", type=IntRange(min=0), help="With --model: keep this many likeliest tokens.")
@sampling
@option(
    "--selection",
    multiple=True,
    callback=rule,
    help="With --model: also decode chains with this rule, in batches that share a budget. May be repeated.",
)
@budget
@option("--prompts", type=FILE, help="With --model: a file of prompts or questions, with all their turns.")
@chat
@option("--by-question", is_flag=True, help="With --model: print acceptance question by question too.")
@option("--count", type=IntRange(1), help="With --model: largest number of questions [default: 4].")
@option("--repeats", type=IntRange(1), help="With --model: repeats of each cell [default: 3].")
@option("--max-new-tokens", type=IntRange(1), help="With --model: length of each text [default: 64].")
@stop
@option("--seed", type=IntRange(0), help="With --model: seed of the first repeat [default: 0].")
@option("--dtype", type=DTYPE, help="With --model.")
@option("--plot", "figure", type=FILE, metavar="FILE", help="Also write a figure to this file.")
@no_graphs
@as_json
def COMMAND(**options: Any) -> int:
    """Measure the speed of verification or, with --model, of decoding.

    Without --model: times verification from logits by the kernels, plain torch and other packages, and
    compares it with the bandwidth floor, one read of each logit at the copy bandwidth measured in the same
    run. On a GPU: V 32k, 128k and 256k, gamma 4 and 8, B 1, 8, 64 and 256, bfloat16, a chain, and trees of
    64 nodes drawn without replacement (tree), with it (tree+) and from strata. Without a GPU: a smaller grid
    of plain torch and transformers. Ratios are to the case's first method. Exit status 1 if a case did not
    fit into memory or one of our own methods did not run; a package that is not installed is no failure.

    With --model: measures tokens a second, time to the first token and between tokens, mean acceptance
    length (with the extra token), acceptance by position, category and question, and time by phase for every
    verifier, draft, temperature and batch, for plain decoding, and for transformers' own plain and assisted
    generation, which decode one text at a time. All use the same prompts, repeats are interleaved, and ratios
    have intervals. Verifiers are compared on their own texts and on the same steps. Each cell's mean
    acceptance length is compared with the prediction from its rows; exit status 1 if they disagree. Ctrl-C
    prints what was measured so far.

    With --random: the same for a network of any size with random weights, at temperature 1 by default, with
    chains of which each token is accepted with a given probability. The drafter is a network of another
    configuration, or costs nothing.
    """
    if options["model"] is not None and options["random"] is not None:
        raise BadInput("--model and --random cannot be combined")
    for name in FOR_RANDOM:
        if options[name] is not None and options["random"] is None:
            raise BadInput(f"--{name.replace('_', '-')} is for runs with --random only")
    with_model = options["model"] is not None or options["random"] is not None
    for name, value in options.items():
        other = name in FOR_KERNELS if with_model else name not in (*FOR_KERNELS, *FOR_BOTH)
        if other and value not in (None, (), False):
            option = f"--{name.replace('_', '-')}"
            raise BadInput(f"{option} is for runs {'without' if with_model else 'with'} --model only")
    for draft in options["draft"]:
        if with_model:
            spelling.draft(draft)
        elif draft not in WITHOUT_MODEL:
            raise BadInput(f"--draft {draft}: without --model it is {' or '.join(WITHOUT_MODEL)}")
    if options["figure"] is not None:
        from draftproof.gpu.bench.figure import required

        required(options["figure"])
    return _decoding(options) if with_model else _verification(options)


def _verification(options: dict[str, Any]) -> int:
    from draftproof.gpu.bench import kernels, timing
    from draftproof.gpu.sampling.device import described, usable

    on = usable(options["device"])
    if on.type not in ("cuda", "cpu"):
        raise BadInput(f"--device {options['device']}: without --model it is cuda or cpu, which can be timed")
    asked = {name: options[name] for name in ("vocab", "gamma", "batch", "draft") if options[name]}
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
    if options["figure"] is not None and points:
        kernels.plot(points, options["figure"], on)
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
    on = bench.target.device
    rows = report.rows_of(bench.cells, bench.prompts)
    versus = report.versus_of(bench.cells)
    target, drafter = bench.target.name, bench.drafter.name
    short = ("/".join(Path(name).parts[-2:]) for name in (target, drafter))
    title = f"{' with '.join(short)} on {described(on)}"
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
            "acceptance": options["acceptance"],
            "plan": asdict(bench.plan),
            "ok": not failed,
            "cells": rows,
            "versus": versus,
        }
        echo(json.dumps(answer))
    elif rows:
        screen.console().print(*report.tables(rows, versus, title, options["by_question"]))
        echo(report.notes(rows, versus))
    if options["figure"] is not None and rows:
        report.plot(rows, options["figure"], title)
    return status(stop, "what was measured is above", failed)


def _bench(options: dict[str, Any]) -> Any:
    from draftproof.gpu.bench import synthetic
    from draftproof.gpu.bench.models import DRAFTS, Bench, Plan
    from draftproof.gpu.commands.settings import rules, samplings, selection
    from draftproof.gpu.engine.prompts import prompts

    refusal = "plain decoding is always measured too; name a drafter"
    most = max(options["batch"], default=1)
    selections = [selection(options, name, None) for name in rules(options)]
    drafts = DRAFTS if options["random"] is None else DRAFTS[:1]
    target, drafter, structures, verifiers = loaded(options, drafts, refusal)
    asked = {
        "tokens": options["max_new_tokens"],
        "batches": options["batch"],
        "repeats": options["repeats"],
        "seed": options["seed"],
        "temperatures": options["temperature"] or ((1.0,) if options["random"] else ()),
        "stop": options["stop"],
    }
    plan = Plan(**{key: value for key, value in asked.items() if value not in (None, ())})
    both = samplings({**options, "temperature": None}, target)
    count = options["count"] or max(4, most)
    if options["random"] is not None:
        given = synthetic.prompts(target, count, options["prompt_tokens"] or 32)
    else:
        given = prompts(options["prompts"], target, count, chat=options["chat"], answer=plan.tokens)
    if len(given) < most:
        raise BadInput(f"--batch {most}: there are only {len(given)} prompts; give a larger --count")
    settings = *both, options["draft_temperature"]
    return Bench(target, drafter, structures, verifiers, given, plan, selections, *settings)
