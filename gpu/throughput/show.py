"""Cells as rows of figures: tables and a document; names as in vLLM and Spec-Bench."""

from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite
from statistics import fmean
from typing import Any

from rich.table import Table

from draftproof.gpu.throughput import peers
from draftproof.gpu.throughput.intervals import LEVEL, difference, ratio
from draftproof.gpu.throughput.run import PHASES, PLAIN, VERSUS, Cell, Plan
from draftproof.simulators.anytime import ERROR


def rows(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """One object a cell.

    `mean_acceptance_length` counts the extra token (vLLM's mean acceptance length, Spec-Bench's MAT, block
    efficiency); `draft_acceptance_rate` is accepted over drafted tokens and
    `acceptance_rate_per_position[l - 1]` the share of drafts of which l tokens or more were accepted (vLLM).
    """
    return [_row(cell, cells) for cell in cells]


def _row(cell: Cell, cells: Sequence[Cell]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "method": cell.method,
        "draft": cell.draft,
        "temperature": cell.temperature,
        "repeats": len(cell.tokens),
        "tokens_per_second": fmean(cell.speeds),
        "tokens_per_second_by_repeat": cell.speeds,
        "over_plain": _beside(cell, _same(cells, PLAIN, "", cell.temperature)),
        "over_transformers_plain": _beside(cell, _same(cells, peers.PLAIN, "", cell.temperature)),
        "over_assisted": _beside(cell, _same(cells, peers.ASSISTED, cell.draft, cell.temperature)),
        "phases": None,
        "problems": [],
    }
    whole = sum(cell.phases.values())
    if whole:
        found["phases"] = {phase: cell.phases[phase] / whole for phase in PHASES}
    if cell.acceptance is not None:
        result = cell.acceptance.result()
        total = result.total
        found |= {
            "mean_acceptance_length": 1 + total.measured,
            "predicted_mean_acceptance_length": 1 + total.predicted,
            "interval": [1 + total.predicted - total.below, 1 + total.predicted + total.above],
            "error": total.error,
            "steps": total.steps,
            "draft_acceptance_rate": result.accepted_share,
            "acceptance_rate_per_position": [each.measured for each in result.positions],
            "predicted_per_position": [each.predicted for each in result.positions],
            "bounds": result.bounds,
            "bounds_by_position": result.bounds_by_position,
            "problems": result.problems,
        }
    return found


def _same(cells: Sequence[Cell], method: str, draft: str, heat: float) -> Cell | None:
    return next((c for c in cells if (c.method, c.draft, c.temperature) == (method, draft, heat)), None)


def _beside(cell: Cell, other: Cell | None) -> dict[str, float] | None:
    if other is None:
        return None
    count = min(len(cell.speeds), len(other.speeds))
    return asdict(ratio(cell.speeds[:count], other.speeds[:count]))


def versus(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Differences of block efficiency between verifiers on the same draft and temperature.

    The value and its interval are those of what was measured, repeat by repeat, each verifier on its own
    text; `same_steps` those of E[tau | draft] step by step, both on the steps of the second verifier.
    """
    found = []
    for better, worse in VERSUS:
        for cell in cells:
            other = _same(cells, worse, cell.draft, cell.temperature)
            if cell.method == better and other is not None:
                count = min(len(cell.accepted), len(other.accepted))
                apart = difference(cell.accepted[:count], other.accepted[:count])
                where = {"draft": cell.draft, "temperature": cell.temperature}
                mine, its = other.expected[better], other.expected[worse]
                same = {"steps": len(its), **asdict(difference(mine, its))}
                found.append({"verifiers": [better, worse], **where, **asdict(apart), "same_steps": same})
    return found


def tables(cells: Sequence[Cell], name: str) -> list[Table]:
    """Speed and acceptance, one line a cell; and differences, one line a pair of verifiers."""
    speed, accepted = Table(title=f"Speed: {name}"), Table(title="Acceptance")
    for made in (speed, accepted):
        for heading in ("T", "draft", "method"):
            made.add_column(heading, no_wrap=True)
    for heading in ("tokens/s", "x plain", "x assisted", "phases %"):
        speed.add_column(heading, justify="right", no_wrap=True)
    for heading in ("MAT", "predicted", "stateless", "full inf.", "accepted", "by position"):
        accepted.add_column(heading, justify="right")
    for row in rows(cells):
        start = [f"{row['temperature']:g}", row["draft"], row["method"]]
        phases = row["phases"]
        spent = "/".join(f"{100 * phases[each]:.0f}" for each in PHASES) if phases else ""
        rates = [_spelled(row["over_plain"]), _spelled(row["over_assisted"])]
        speed.add_row(*start, f"{row['tokens_per_second']:.1f}", *rates, spent)
        if "steps" in row:
            accepted.add_row(*start, *_acceptance(row), style="bold red" if row["problems"] else "")
    apart = versus(cells)
    return [speed, accepted, _differences(apart)] if apart else [speed, accepted]


def _differences(found: Sequence[dict[str, Any]]) -> Table:
    made = Table(title="Differences in block efficiency")
    made.add_column("T", no_wrap=True)
    made.add_column("draft", overflow="fold")
    made.add_column("verifiers", no_wrap=True)
    for heading in ("measured", "on the same steps", "steps"):
        made.add_column(heading, justify="right", no_wrap=True)
    for each in found:
        both, same = " - ".join(each["verifiers"]), each["same_steps"]
        where = f"{each['temperature']:g}", each["draft"]
        made.add_row(*where, both, _signed(each), _signed(same), f"{same['steps']:,}")
    return made


def _signed(found: dict[str, float]) -> str:
    return f"{found['value']:+.3f} \\[{found['low']:+.3f}, {found['high']:+.3f}]"


def _acceptance(row: dict[str, Any]) -> list[str]:
    low, high = row["interval"]
    middle = row["predicted_mean_acceptance_length"]
    return [
        f"{row['mean_acceptance_length']:.2f}",
        f"{middle:.2f} ± {max(high - middle, middle - low):.2f}",
        *("" if bound is None else f"{1 + bound:.2f}" for bound in row["bounds"].values()),
        f"{row['draft_acceptance_rate']:.0%}",
        " ".join(f"{each:.2f}" for each in row["acceptance_rate_per_position"]),
    ]


def _spelled(found: dict[str, float] | None) -> str:
    if found is None:
        return ""
    low, high = found["low"], found["high"]
    return "1" if low == high == 1 else f"{found['value']:.2f} [{low:.2f}, {high:.2f}]"


def notes(cells: Sequence[Cell]) -> str:
    """What stands below the table."""
    shown = rows(cells)
    cut = sum(bool(row["problems"]) for row in shown)
    drafted = sum("steps" in row for row in shown)
    lines = [
        f"x: ratios of tokens a second over paired repeats, {LEVEL:.0%} t-intervals; phases: "
        + "/".join(PHASES),
        "MAT: mean acceptance length, the extra token counted (block efficiency); predicted: from the rows",
        f"seen, its interval holds at error {ERROR:g} a cell; stateless, full inf.: bounds on them, plus 1,",
        "of sampled trees the mean of an estimate",
        f"prediction and measurement agree in {drafted - cut} of {drafted} cells",
    ]
    if versus(cells):
        lines += [
            f"differences: {LEVEL:.0%} t-intervals; measured: each verifier on its own texts, by repeat;",
            "on the same steps: E[tau | draft] of both, from the rows of the steps that the second one took",
        ]
    for row in shown:
        lines += [
            f"T {row['temperature']:g} {row['draft']} {row['method']}: {each}" for each in row["problems"]
        ]
    return "\n".join(lines)


def document(cells: Sequence[Cell], plan: Plan, about: dict[str, Any]) -> dict[str, Any]:
    """What --json prints; intervals that one repeat leaves open have null ends."""
    shown = rows(cells)
    made = {
        **about,
        "plan": asdict(plan),
        "ok": not any(row["problems"] for row in shown),
        "cells": shown,
        "versus": versus(cells),
    }
    return _finite(made)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value
