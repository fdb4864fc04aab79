"""Timed decoding as tables and JSON, with intervals over repeats; names as in vLLM and Spec-Bench."""

from collections.abc import Sequence
from math import exp
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from rich.table import Table
from scipy.stats import sem, t

from draftproof.gpu.bench.models import ASSISTED, PLAIN, TRANSFORMERS, Cell
from draftproof.gpu.engine.loop import PHASES
from draftproof.simulators import screen
from draftproof.simulators.support.anytime import ERROR

Rows: TypeAlias = Sequence[dict[str, Any]]

LEVEL = 0.95  # coverage of the t-intervals, if logarithms of ratios are normal


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, float | None]:
    """The geometric mean of the ratios of paired repeats, and the ends `low` and `high` of a t-interval of
    their logarithms, None if there are fewer than two repeats.
    """
    logs = np.log(ours) - np.log(theirs)
    middle, count = float(np.mean(logs)), len(logs)
    if count < 2:
        return {"value": exp(middle), "low": None, "high": None}
    half = float(t.ppf((1 + LEVEL) / 2, count - 1) * sem(logs))
    return {"value": exp(middle), "low": exp(middle - half), "high": exp(middle + half)}


def row_of(cell: Cell, cells: Sequence[Cell]) -> dict[str, Any]:
    """A cell's JSON object, with its speed over that of others among the cells.

    `mean_acceptance_length` counts the extra token (vLLM's mean acceptance length, Spec-Bench's MAT, block
    efficiency); `draft_acceptance_rate` is accepted over drafted tokens and
    `acceptance_rate_per_position[l - 1]` the fraction of drafts with l or more accepted tokens (vLLM).
    `over_faster_plain` is the ratio to the faster one of plain decoding by this engine and by transformers.
    """
    phases, whole = cell.phases, sum(cell.phases.values())
    row: dict[str, Any] = {
        "method": cell.method,
        "draft": cell.draft,
        "temperature": cell.temperature,
        "batch": cell.batch,
        "repeats": len(cell.repeats),
        "tokens": sum(each.tokens for each in cell.repeats),
        "tokens_per_second": fmean(cell.speeds),
        "tokens_per_second_by_repeat": cell.speeds,
        "over_plain": _over(cell, cells, PLAIN),
        "over_transformers_plain": _over(cell, cells, TRANSFORMERS),
        "over_faster_plain": _over(cell, cells, PLAIN, TRANSFORMERS),
        "over_assisted": _over(cell, cells, ASSISTED),
        "tokens_per_call": cell.a_call("tokens"),
        "verified_per_call": cell.a_call("verified"),
        "selection": cell.way.rule,
        "phases": {phase: seconds / whole for phase, seconds in phases.items()} if whole else None,
        "problems": [],
    }
    if cell.acceptance is not None:
        found, positions = cell.acceptance, cell.acceptance.positions.intervals
        total = found.total.interval
        row |= {
            "mean_acceptance_length": 1 + total.measured,
            "predicted_mean_acceptance_length": 1 + total.predicted,
            "interval": [1 + total.predicted - total.below, 1 + total.predicted + total.above],
            "error": total.error,
            "steps": total.steps,
            "draft_acceptance_rate": float(found.total.seen) / max(found.drafted, 1),
            "acceptance_rate_per_position": [each.measured for each in positions],
            "predicted_per_position": [each.predicted for each in positions],
            "bounds": found.bounds,
            "problems": found.problems,
        }
    return row


def _over(cell: Cell, cells: Sequence[Cell], *methods: str) -> dict[str, float | None] | None:
    """The ratio to the fastest of some methods at the same temperature and batch, and with no other draft."""
    like = cell.temperature, cell.batch
    others = [each for each in cells if each.method in methods and (each.temperature, each.batch) == like]
    others = [each for each in others if each.draft in ("", cell.draft)]
    if not others:
        return None
    other = max(others, key=lambda each: fmean(each.speeds))
    pairs = zip(cell.speeds, other.speeds, strict=False)  # cells may differ by one repeat if interrupted
    return ratio(*zip(*pairs, strict=True))


def _method(row: dict[str, Any]) -> str:
    """A cell's method, and its batch if that is not 1."""
    return row["method"] if row["batch"] == 1 else f"{row['method']} x{row['batch']}"


def _spelled(found: dict[str, Any] | None) -> str:
    """An estimate with its interval, if it has one; the ratio of a cell to itself is just 1."""
    if found is None:
        return ""
    value, low, high = found["value"], found["low"], found["high"]
    if low == high == 1:
        return "1"
    return f"{value:.2f} \\[{low:.2f}, {high:.2f}]" if high is not None else f"{value:.2f}"


def tables(rows: Rows, name: str) -> list[Table]:
    """Speed and acceptance, one line per cell."""
    start = "T", "draft", "method"
    headings = "tokens/s", "x faster plain", "x assisted", "phases %"
    speed = screen.table(f"Speed: {name}", "lllrrrr", *start, *headings)
    selecting = ["verified"] if any(row["selection"] for row in rows) else []
    headings = "MAT", "predicted", "stateless", "full inf.", *selecting, "by position"
    accepted = screen.table("Acceptance", "lll" + "r" * len(headings), *start, *headings)
    for row in rows:
        named = f"{row['temperature']:g}", row["draft"], _method(row)
        phases = row["phases"]
        spent = "/".join(f"{100 * phases[each]:.0f}" for each in PHASES) if phases else ""
        ratios = [_spelled(row["over_faster_plain"]), _spelled(row["over_assisted"])]
        speed.add_row(*named, f"{row['tokens_per_second']:.1f}", *ratios, spent)
        if "steps" in row:
            (low, high), middle = row["interval"], row["predicted_mean_acceptance_length"]
            accepted.add_row(
                *(*named, f"{row['mean_acceptance_length']:.2f}"),
                f"{middle:.2f} ± {max(high - middle, middle - low):.2f}",
                *("" if bound is None else f"{1 + bound:.2f}" for bound in row["bounds"].values()),
                *(f"{row['verified_per_call']:.1f}" for _ in selecting),
                " ".join(f"{each:.2f}" for each in row["acceptance_rate_per_position"]),
                style="bold red" if row["problems"] else "",
            )
    for column in (*speed.columns, *accepted.columns[:3]):
        column.no_wrap = True
    return [speed, accepted] if accepted.row_count else [speed]


NOTES = f"""\
x: ratios of tokens a second over paired repeats, {LEVEL:.0%} t-intervals; faster plain: plain decoding by
this engine or by transformers; x8: eight texts at once; phases: {"/".join(PHASES)}
MAT: mean acceptance length, the extra token counted (block efficiency): all tokens over all steps.
predicted: from the rows seen, its interval holds at error {ERROR:g} a cell; stateless, full inf.: bounds on
it, plus 1
verified: drafted tokens of a batch in a call of the target"""


def notes(rows: Rows) -> str:
    """The explanations below the tables, and one line for each problem."""
    drafted = [row for row in rows if "steps" in row]
    agree = sum(not row["problems"] for row in drafted)
    problems = [
        f"T {row['temperature']:g} {row['draft']} {_method(row)}: {each}"
        for row in drafted
        for each in row["problems"]
    ]
    counted = f"prediction and measurement agree in {agree} of {len(drafted)} cells"
    return "\n".join([NOTES, counted, *problems])
