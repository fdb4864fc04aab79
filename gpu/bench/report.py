"""Timed decoding as tables, JSON and a figure; names as in vLLM and Spec-Bench."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from rich.table import Table

from draftproof.gpu.bench import questions
from draftproof.gpu.bench.figure import look, required, save
from draftproof.gpu.bench.models import ASSISTED, PLAIN, TRANSFORMERS, VERSUS, Cell
from draftproof.gpu.bench.questions import method_of, spelled
from draftproof.gpu.bench.timing import LEVEL, difference, means_apart, ratio
from draftproof.gpu.engine.loop import PHASES
from draftproof.gpu.engine.prompts import Prompt
from draftproof.simulators import screen
from draftproof.simulators.support.anytime import ERROR

Rows: TypeAlias = Sequence[dict[str, Any]]


def rows_of(cells: Sequence[Cell], prompts: Sequence[Prompt]) -> list[dict[str, Any]]:
    """One JSON object per cell, of runs with these prompts.

    `mean_acceptance_length` counts the extra token (vLLM's mean acceptance length, Spec-Bench's MAT, block
    efficiency); `draft_acceptance_rate` is accepted over drafted tokens and
    `acceptance_rate_per_position[l - 1]` the fraction of drafts with l or more accepted tokens (vLLM).
    `time_to_first_token` (prefill included), `time_per_output_token` (after it; vLLM's TPOT) and `prefill`
    are means of texts in seconds. `over_faster_plain` is the ratio to the faster one of plain decoding by
    this engine and by transformers.
    """
    return [_row(cell, cells, prompts) for cell in cells]


def _row(cell: Cell, cells: Sequence[Cell], prompts: Sequence[Prompt]) -> dict[str, Any]:
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
        "over_plain": _over(cells, cell, PLAIN, ""),
        "over_transformers_plain": _over(cells, cell, TRANSFORMERS, ""),
        "over_faster_plain": _over(cells, cell, _faster(cells, cell), ""),
        "prefill": cell.mean("prefill"),
        "time_to_first_token": cell.mean("first"),
        "time_per_output_token": cell.mean("between"),
        "over_assisted": _over(cells, cell, ASSISTED, cell.draft),
        "tokens_per_call": cell.mean("emitted"),
        "verified_per_call": cell.mean("verified"),
        "selection": cell.selection.rule.name if cell.selection else None,
        "phases": {phase: seconds / whole for phase, seconds in phases.items()} if whole else None,
        "problems": [],
    }
    if cell.acceptance is not None:
        result = cell.acceptance.result()
        total = result.total
        row |= {
            "mean_acceptance_length": 1 + total.measured,
            "predicted_mean_acceptance_length": 1 + total.predicted,
            "interval": [1 + total.predicted - total.below, 1 + total.predicted + total.above],
            "error": total.error,
            "steps": total.steps,
            "draft_acceptance_rate": result.drafts_accepted,
            "acceptance_rate_per_position": [each.measured for each in result.positions],
            "predicted_per_position": [each.predicted for each in result.positions],
            "bounds": result.bounds,
            "bounds_by_position": result.bounds_by_position,
            "by_category": _by_category(cell, prompts),
            **{name: each.finite for name, each in questions.means(cell.taus, cell.asked).items()},
            "questions": questions.table_of(cell, prompts),
            "problems": result.problems,
        }
    return row


def _faster(cells: Sequence[Cell], cell: Cell) -> str:
    """The faster method of plain decoding at a cell's temperature and batch."""
    found = [each for name in (PLAIN, TRANSFORMERS) if (each := _like(cells, cell, name, ""))]
    return max(found, key=lambda each: fmean(each.speeds)).method if found else PLAIN


def _by_category(cell: Cell, prompts: Sequence[Prompt]) -> dict[str, dict[str, Any]]:
    """The mean acceptance length of each category's questions, with an interval over questions."""
    found, of = {}, {prompt.question: prompt.category for prompt in prompts}
    for category in dict.fromkeys(each for each in of.values() if each is not None):
        pairs = zip(cell.taus, cell.asked, strict=True)
        some = [(1 + tau, number) for tau, number in pairs if of[number] == category]
        if some:
            lengths, asked = zip(*some, strict=True)
            about = difference(lengths, [0.0] * len(lengths), asked).finite
            found[category] = {"steps": len(lengths), "questions": len({*asked}), **about}
    return found


def _like(cells: Sequence[Cell], cell: Cell, method: str, draft: str) -> Cell | None:
    """The cell of another method at the same temperature and batch."""
    wanted = method, draft, cell.temperature, cell.batch
    alike = (each for each in cells if (each.method, each.draft, each.temperature, each.batch) == wanted)
    return next(alike, None)


def _over(cells: Sequence[Cell], cell: Cell, method: str, draft: str) -> dict[str, float | None] | None:
    other = _like(cells, cell, method, draft)
    if other is None:
        return None
    pairs = zip(cell.speeds, other.speeds, strict=False)  # cells may differ by one repeat if interrupted
    return ratio(*zip(*pairs, strict=True)).finite


def versus_of(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Differences in block efficiency between two verifiers on the same draft and temperature.

    The value and its interval compare the measured means, each verifier on its own texts. `same_steps`
    compares E[tau | draft] of both on the steps of the second verifier. Both intervals are clustered by
    question. `mean_over_questions` is the measured difference with equal weights for all questions.
    """
    found = []
    for (better, worse), cell in product(VERSUS, cells):
        other = _like(cells, cell, worse, cell.draft)
        if cell.method == better and other is not None:
            same = difference(other.expected[better], other.expected[worse], other.asked)
            found.append(
                {
                    "verifiers": [better, worse],
                    "draft": cell.draft,
                    "temperature": cell.temperature,
                    "batch": cell.batch,
                    **means_apart(cell.taus, cell.asked, other.taus, other.asked).finite,
                    "mean_over_questions": questions.apart(cell, other).finite,
                    "same_steps": {"steps": len(other.asked), **same.finite},
                }
            )
    return found


def tables(rows: Rows, versus: Rows, name: str, every: bool = False) -> list[Table]:
    """Speed, latency and acceptance, one line per cell; acceptance by category, if prompts have one; and
    differences, one line per pair of verifiers; if `every`, also all questions.
    """
    start = "T", "draft", "method"
    headings = "tokens/s", "x faster plain", "x assisted", "phases %"
    speed = screen.table(f"Speed: {name}", "lllrrrr", *start, *headings)
    latency = screen.table("Latency in ms", "lllrrr", *start, "prefill", "first token", "next tokens")
    kinds = list(dict.fromkeys(kind for row in rows for kind in row.get("by_category", ())))
    headings = "category", "MAT", "steps"
    by_kind = screen.table("Acceptance by category", "llllrr", *start, *headings)
    selecting = ["verified"] if any(row["selection"] for row in rows) else []
    headings = "MAT", "predicted", "stateless", "full inf.", *selecting, "accepted", "by position"
    accepted = screen.table("Acceptance", "lll" + "r" * len(headings), *start, *headings)
    headings = "measured", "on the same steps", "steps"
    apart = screen.table("Differences in block efficiency", "lllrrr", "T", "draft", "verifiers", *headings)
    kept = *speed.columns, *latency.columns, *accepted.columns[:3], apart.columns[0], *apart.columns[2:]
    for column in kept:
        column.no_wrap = True
    apart.columns[1].overflow = "fold"
    for row in rows:
        start = f"{row['temperature']:g}", row["draft"], method_of(row)
        phases = row["phases"]
        spent = "/".join(f"{100 * phases[each]:.0f}" for each in PHASES) if phases else ""
        ratios = [spelled(row["over_faster_plain"]), spelled(row["over_assisted"])]
        speed.add_row(*start, f"{row['tokens_per_second']:.1f}", *ratios, spent)
        times = [row[name] for name in ("prefill", "time_to_first_token", "time_per_output_token")]
        if times[0] is not None:
            latency.add_row(*start, *("" if each is None else f"{1e3 * each:.1f}" for each in times))
        if "steps" in row:
            low, high = row["interval"]
            middle = row["predicted_mean_acceptance_length"]
            accepted.add_row(
                *start,
                f"{row['mean_acceptance_length']:.2f}",
                f"{middle:.2f} ± {max(high - middle, middle - low):.2f}",
                *("" if bound is None else f"{1 + bound:.2f}" for bound in row["bounds"].values()),
                *(f"{row['verified_per_call']:.1f}" for _ in selecting),
                f"{row['draft_acceptance_rate']:.0%}",
                " ".join(f"{each:.2f}" for each in row["acceptance_rate_per_position"]),
                style="bold red" if row["problems"] else "",
            )
            for kind in kinds:
                if kind in row["by_category"]:
                    each = row["by_category"][kind]
                    by_kind.add_row(*start, kind, spelled(each), f"{each['steps']:,}")
    for each in versus:
        same = each["same_steps"]
        both = [spelled(each, "+.3f"), spelled(same, "+.3f"), f"{same['steps']:,}"]
        apart.add_row(f"{each['temperature']:g}", each["draft"], " - ".join(each["verifiers"]), *both)
    several = questions.tables(rows, versus, every)
    parts = (speed, latency, accepted, *several, by_kind, apart)
    return [each for each in parts if each is speed or each.row_count]


def notes(rows: Rows, versus: Rows) -> str:
    """The explanations below the tables, and one line for each problem."""
    drafted = [row for row in rows if "steps" in row]
    agree = sum(not row["problems"] for row in drafted)
    lines = [
        f"x: ratios of tokens a second over paired repeats, {LEVEL:.0%} t-intervals; faster plain: plain",
        "decoding by this engine or by transformers; x8: eight texts at once; phases: " + "/".join(PHASES),
        "latency: means of texts, each from its turn on; prefill ends before the first step, which gives the",
        "first token; next tokens: time from one to the next",
        "MAT: mean acceptance length, the extra token counted (block efficiency); predicted: from the rows",
        f"seen, its interval holds at error {ERROR:g} a cell; stateless, full inf.: bounds on them, plus 1,",
        "of sampled trees the mean of an estimate",
        f"prediction and measurement agree in {agree} of {len(drafted)} cells",
    ]
    if any(row["selection"] for row in rows):
        lines.append("verified: drafted tokens of a batch in a call of the target")
    if any(len(row["questions"]) > 1 for row in drafted):
        lines.append("totals: all tokens over all steps; over questions: each question counts the same")
    if versus:
        lines += [
            f"differences: {LEVEL:.0%} t-intervals; measured: each verifier on its own texts;",
            "on the same steps: E[tau | draft] of both, from the rows of the steps that the second one took,",
            "both clustered by question",
        ]
    lines += [
        f"T {row['temperature']:g} {row['draft']} {method_of(row)}: {each}"
        for row in drafted
        for each in row["problems"]
    ]
    return "\n".join(lines)


def plot(rows: Rows, path: Path, name: str) -> None:
    """Plots block efficiency (measured, predicted) and tokens a second against temperature, per draft and, if
    there are several questions, block efficiency of each at the highest temperature.
    """
    drafts = list(dict.fromkeys(row["draft"] for row in rows if "steps" in row)) or [""]
    rising = sorted(rows, key=lambda row: row["temperature"])
    methods = list(dict.fromkeys(map(method_of, rows)))
    several = any(len(row.get("questions", ())) > 1 for row in rows)
    shape = (3 if several else 2), len(drafts)
    figure = required(path)(figsize=(3.2 * shape[1] + 2.4, 2.7 * shape[0]), layout="constrained")
    axes = figure.subplots(*shape, squeeze=False, sharey="row")
    for draft, (top, below, *rest) in zip(drafts, axes.T, strict=True):
        top.set_title(draft, fontsize=9)
        for index, method in enumerate(methods):
            some = [row for row in rising if row["draft"] in (draft, "") and method_of(row) == method]
            style = look(index) | {"label": method}
            heats = [row["temperature"] for row in some]
            below.plot(heats, [row["tokens_per_second"] for row in some], **style)
            if some and "steps" in some[0]:
                low, high = np.transpose([row["interval"] for row in some])
                middle, half = (low + high) / 2, (high - low) / 2
                top.errorbar(heats, middle, half, fmt="none", color=style["color"], linewidth=0.8, capsize=2)
                top.plot(heats, [row["mean_acceptance_length"] for row in some], **style)
                for axis in rest:
                    questions.panel(axis, some[-1], style)
    axes[0, 0].set_ylabel("block efficiency\n(bars: predicted)")
    axes[1, 0].set_ylabel("tokens a second")
    for axis in axes[1]:
        axis.set_xlabel("temperature")
    if several:
        heat = rising[-1]["temperature"]
        means = "(solid: totals, dashed: questions)"
        axes[2, 0].set_ylabel(f"block efficiency at T = {heat:g}\n{means}")
    save(figure, path, name)
