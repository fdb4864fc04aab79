"""`draftproof gap --calls`: calls of the target over many iterations, beside the horizon optimum."""

import json
from typing import Any

import click
from rich.markup import escape

from draftproof.simulators import screen
from draftproof.simulators.laws.calls import CallsGap, LongRun
from draftproof.simulators.study.gap import remark
from draftproof.theory.numbers import text
from draftproof.theory.transport.horizon import Bounds
from draftproof.theory.verifiers import VERIFIERS

CLOSE = 5e-7
"""Certified bounds nearer to each other than this are shown as one number."""


def print_calls(found: CallsGap, as_json: bool) -> int:
    """Prints a table, or the JSON document."""
    if as_json:
        click.echo(json.dumps(_document(found)))
        return 0
    title = f"{escape(found.instance.name or 'one instance')}: {found.tokens} tokens"
    headings = "verifier", "calls", "of the optimum", "tokens a call, in the long run", ""
    table = screen.table(title, "lrrrl", *headings)
    low, most = found.fewest, found.most
    table.add_row("any rule with memory", _shown(low), "100.00 %", _shown(most), "optimum, certified")
    table.add_section()
    for name in sorted(found.calls, key=lambda name: found.calls[name]):
        calls, run = found.calls[name], found.long_run[name]
        long = f"{run.value:.6f}" if run.bounds is None else _shown(run.bounds)
        remarks = [
            remark(VERIFIERS[name], calls < low.lower),
            "long run estimated" if run.bounds is None else "",
        ]
        note = "; ".join(filter(None, remarks))
        table.add_row(name, f"{float(calls):.6f}", f"{100 * float(low.lower / calls):.2f} %", long, note)
    screen.console().print(table)
    for name, why in found.invalid.items():
        click.echo(f"{name}: {why}")
    return 0


def _shown(bounds: Bounds) -> str:
    if bounds.error < CLOSE:
        return f"{float(bounds.lower):.6f}"
    return f"{float(bounds.lower):.4f} to {float(bounds.upper):.4f}"


def _document(found: CallsGap) -> dict[str, Any]:
    # Exact values are strings; an estimate is a number.
    return {
        "tokens": found.tokens,
        "expected_calls": {name: text(calls) for name, calls in found.calls.items()},
        "long_run": {name: _long(run) for name, run in found.long_run.items()},
        "optimum": {"expected_calls": _bounds(found.fewest), "long_run": _bounds(found.most)},
        **({"invalid": dict(found.invalid)} if found.invalid else {}),
    }


def _long(run: LongRun) -> dict[str, Any]:
    return {"estimate": run.value} if run.bounds is None else _bounds(run.bounds)


def _bounds(bounds: Bounds) -> dict[str, str]:
    return {"lower": text(bounds.lower), "upper": text(bounds.upper)}
