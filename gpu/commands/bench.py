"""The command `gpu bench`."""

import json
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from click import FloatRange, IntRange, command, echo, option

from draftproof.gpu.commands import options as shared
from draftproof.simulators import screen
from draftproof.theory.errors import BadInput


@command("bench")
@shared.compared
@option("--count", type=IntRange(1), help="Largest number of prompts [default: 4].")
@option("--batch", "batches", type=IntRange(1, 2**16), multiple=True, default=(1,), help="Texts at once.")
@option("--max-new-tokens", "tokens", type=IntRange(1), default=64, help="Length of each text.")
@option("--repeats", type=IntRange(1), default=3, help="Repeats of each cell.")
@option("--temperature", "temperatures", type=FloatRange(0), multiple=True, default=(0.2, 0.6, 1.0))
@shared.device
@shared.settings(
    option("--top-k", type=IntRange(min=0)),
    *shared.SAMPLING,
    shared.selections,
    shared.budget,
    shared.chat,
    option("--seed", type=IntRange(0), default=0),
    shared.dtype,
    shared.no_row_test,
)
@shared.json_option
def COMMAND(**options: Any) -> int:
    """Measure the speed of decoding with real models.

    Measures tokens a second, mean acceptance length (with the extra token), acceptance by position, and time
    by phase for every verifier, draft, temperature and batch, for plain decoding, and for transformers' own
    plain and assisted generation, which decode one text at a time. All use the same prompts, repeats are
    interleaved, and ratios have intervals. With a selection, chains are also decoded in batches that share a
    budget. Each cell's mean acceptance length is compared with the prediction from its rows; exit status 1 if
    they disagree. Ctrl-C prints what was measured so far.
    """
    from draftproof.gpu.bench import report
    from draftproof.gpu.sampling.device import described, memory_errors

    started = monotonic()
    with memory_errors("take a smaller model or another --device"):
        bench = _bench(options)
    _, stop = shared.measured(
        bench.run(),
        "runs",
        bench.total,
        lambda cell: f"T {cell.temperature:g} {cell.draft} {cell.method}",
        "what was measured is above; take fewer drafts or shorter texts",
    )
    target, drafter = bench.setup.target, bench.setup.drafter.name
    on = target.device
    rows = [report.row_of(cell, bench.cells) for cell in bench.cells]
    failed = any(row["problems"] for row in rows)
    if options["as_json"]:
        answer = {
            "model": target.name,
            "drafter": drafter,
            "device": described(on),
            "gpu": on.type == "cuda",
            "seconds": round(monotonic() - started, 1),
            "complete": stop is None,
            "plan": asdict(bench.plan),
            "ok": not failed,
            "cells": rows,
        }
        echo(json.dumps(answer))
    elif rows:
        short = ("/".join(Path(name).parts[-2:]) for name in (target.name, drafter))
        title = f"{' with '.join(short)} on {described(on)}"
        screen.console().print(*report.tables(rows, title))
        screen.say(report.notes(rows))
    return shared.status(stop, "what was measured is above", failed)


def _bench(options: dict[str, Any]) -> Any:
    from draftproof.gpu.bench.models import DRAFTS, Bench, Plan
    from draftproof.gpu.commands.settings import selected, setup
    from draftproof.gpu.engine.prompts import prompts

    most = max(options["batches"])
    given = setup(options, DRAFTS, selected(options), "plain decoding is always measured too")
    plan = Plan(**{key: options[key] for key in Plan.__match_args__})
    count = options["count"] or max(4, most)
    texts = prompts(options["prompts"], given.target, count, chat=options["chat"])
    if len(texts) < most:
        raise BadInput(f"--batch {most}: there are only {len(texts)} prompts; give a larger --count")
    return Bench(given, texts, plan)
