"""The command `gpu validate`."""

import json
from dataclasses import asdict, replace
from time import monotonic
from typing import Any

from click import FloatRange, IntRange, command, echo, option

from draftproof.gpu.commands import options as shared
from draftproof.simulators import screen
from draftproof.simulators.support.anytime import ERROR

OPENINGS = ("import os\n\n\nclass ", "def main():\n", '"""Read and write', "    for i in range(")
"""Prompts whose next tokens are uncertain; they come before the prompts that `gpu bench` uses."""

MANY = 128
"""Acceptance is measured on at most this many prompts."""


@command("validate")
@shared.compared
@option("--runs", type=IntRange(1), default=500, help="Decodings per tested law.")
@option("--length", type=IntRange(1, 6), default=3, help="Tokens per tested law.")
@option("--top-k", type=IntRange(1, 16), multiple=True, default=(2, 4), help="Values of top-k to test.")
@option("--max-new-tokens", "tokens", type=IntRange(1), default=32, help="Of the greedy texts.")
@option("--temperature", type=FloatRange(0, min_open=True), default=1.0)
@option("--seed", type=IntRange(0), default=0)
@shared.device
@shared.settings(
    option("--half-width", type=FloatRange(0, min_open=True), default=0.1),
    option("--batch", type=IntRange(1), default=500),
    option("--requests", type=IntRange(2), default=8),
    shared.selections,
    shared.budget,
    *shared.SAMPLING,
    shared.chat,
    option("--dtype", type=shared.DTYPE, default="float32"),
    shared.no_row_test,
)
@shared.json_option
def COMMAND(**options: Any) -> int:
    """Check that decoding with real models follows the target's law, and that acceptance is as predicted.

    For every verifier on every draft: compares greedy text with transformers' own, token for token; tests the
    joint law of the first tokens against its enumeration, by an anytime-valid test; and compares tau with
    E[tau] computed from the rows of the same steps, in total and by position, with an interval of error 1e-6,
    and on chains with the stateless and full-information bounds. Of the settings, `half_width` is that of
    E[tau]'s interval (as many steps are taken), `batch` counts rows decoded at once, and a `selection` (by
    default tetris-repaired) is tested in batches of `requests`. A narrow `dtype` also rounds the law used for
    comparison. Exit status 0 if all is as expected, 1 if not, 2 for bad input. Ctrl-C prints what was
    finished.
    """
    from draftproof.gpu.checks.models.run import summary, table
    from draftproof.gpu.checks.row_test import reports
    from draftproof.gpu.drafters.drafter import ModelDrafter
    from draftproof.gpu.sampling.device import memory_errors

    started = monotonic()
    with memory_errors("take a smaller model or another --device"):
        validation = _prepared(options)
        target, drafter = validation.setup.target, validation.setup.drafter
        read = [target, *([drafter.model] if isinstance(drafter, ModelDrafter) else [])]
        rows = {} if options["no_row_test"] else reports(read)
    total = len(validation.ways)
    cells, stop = shared.measured(
        validation.run(),
        "cells",
        total,
        lambda cell: cell.name,
        "what was finished is above; take a smaller --batch",
    )
    on, seconds = str(target.device), round(monotonic() - started, 1)
    failed = any(cell.problems for cell in cells)
    if options["as_json"]:
        answer = {
            "model": target.name,
            "drafter": drafter.name,
            "device": on,
            "dtype": options["dtype"],
            "seconds": seconds,
            "rows": rows,
            "plan": asdict(validation.plan),
            "error": ERROR,
            "complete": stop is None,
            "ok": stop is None and not failed,
            "cells": [cell.answer() for cell in cells],
        }
        echo(json.dumps(answer))
    elif cells:
        screen.console().print(table(cells))
        for name, found in rows.items():
            screen.say(f"{name}: {found}")
        screen.say(f"{summary(cells)}\n{seconds} s on {on}")
    return shared.status(stop, f"{len(cells)} of {total} cells were finished", failed)


def _prepared(options: dict[str, Any]) -> Any:
    from draftproof.gpu.checks.models.run import DRAFTS, Plan, Validation
    from draftproof.gpu.commands.settings import selected, setup
    from draftproof.gpu.engine.prompts import prompts

    limit = options["requests"] if options["budget"] is None else options["budget"]
    rules = options["selection"] or ["tetris-repaired"]
    selections = selected({**options, "selection": rules, "budget": limit}, options["requests"])
    refusal = "there is nothing to validate without a draft"
    given = setup({**options, "top_k": 0}, DRAFTS, selections, refusal)
    if given.drafter.only_chains and not options["selection"]:  # rows of one token: no selection can go wrong
        given = replace(given, selections=())
    plan = Plan(**{key: options[key] for key in Plan.__match_args__})
    many = [each.ids for each in prompts(options["prompts"], given.target, count=MANY, chat=options["chat"])]
    few = many[:8]
    if options["prompts"] is None:
        few = [given.target.tokenizer.encode(text) for text in OPENINGS] + few[: 8 - len(OPENINGS)]
    return Validation(given, few, plan, many)
