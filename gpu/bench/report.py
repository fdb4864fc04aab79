"""Timed decoding as tables and JSON; names as in vLLM and Spec-Bench."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import product
from statistics import fmean
from typing import Any, TypeAlias

from rich.table import Table

from draftproof.gpu.bench.estimates import LEVEL, Estimate, difference, means_apart, ratio
from draftproof.gpu.bench.models import ASSISTED, PLAIN, TRANSFORMERS, VERSUS, Cell
from draftproof.gpu.engine.loop import PHASES
from draftproof.simulators import screen
from draftproof.simulators.support.anytime import ERROR

Rows: TypeAlias = Sequence[dict[str, Any]]


def rows_of(cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """One JSON object per cell.

    `mean_acceptance_length` counts the extra token (vLLM's mean acceptance length, Spec-Bench's MAT, block
    efficiency); `draft_acceptance_rate` is accepted over drafted tokens and
    `acceptance_rate_per_position[l - 1]` the fraction of drafts with l or more accepted tokens (vLLM).
    `time_to_first_token` (prefill included), `time_per_output_token` (after it; vLLM's TPOT) and `prefill`
    are means of texts in seconds. `over_faster_plain` is the ratio to the faster one of plain decoding by
    this engine and by transformers.
    """
    return [_row(cell, cells) for cell in cells]


def _row(cell: Cell, cells: Sequence[Cell]) -> dict[str, Any]:
    phases, whole = cell.phases, sum(cell.phases.values())
    plain = [each for name in (PLAIN, TRANSFORMERS) if (each := _like(cells, cell, name, ""))]
    row: dict[str, Any] = {
        "method": cell.method,
        "draft": cell.draft,
        "temperature": cell.temperature,
        "batch": cell.batch,
        "repeats": len(cell.repeats),
        "tokens": sum(each.tokens for each in cell.repeats),
        "tokens_per_second": fmean(cell.speeds),
        "tokens_per_second_by_repeat": cell.speeds,
        "over_plain": _over(cell, _like(cells, cell, PLAIN, "")),
        "over_transformers_plain": _over(cell, _like(cells, cell, TRANSFORMERS, "")),
        "over_faster_plain": _over(cell, max(plain, key=lambda each: fmean(each.speeds), default=None)),
        "over_assisted": _over(cell, _like(cells, cell, ASSISTED, cell.draft)),
        "prefill": cell.mean("prefill"),
        "time_to_first_token": cell.mean("first"),
        "time_per_output_token": cell.mean("between"),
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
            "questions": len({*cell.asked}),
            **{name: each.finite for name, each in means(cell.taus, cell.asked).items()},
            "problems": result.problems,
        }
    return row


def lengths(taus: Sequence[float], asked: Sequence[int]) -> dict[int, float]:
    """The mean of the steps of each question: tokens a step, the extra token counted.

    >>> lengths([2, 0, 1], [0, 0, 1])
    {0: 2.0, 1: 2.0}
    """
    found: defaultdict[int, list[float]] = defaultdict(list)
    for tau, question in zip(taus, asked, strict=True):
        found[question].append(1 + tau)
    return {question: fmean(each) for question, each in found.items()}


def means(taus: Sequence[float], asked: Sequence[int]) -> dict[str, Estimate]:
    """Both means of the tokens a step, with t-intervals in which a question is one cluster.

    `ratio_of_totals`: all tokens over all steps, so that a question with many steps, whose drafts are often
    rejected, counts more; `mean_over_questions`: every question counts the same. Published reports give
    one or the other.

    >>> found = means([3, 0, 0, 0], [0, 1, 1, 1])
    >>> found["ratio_of_totals"].value, found["mean_over_questions"].value
    (1.75, 2.5)
    """
    each, whole = [*lengths(taus, asked).values()], [1.0 + tau for tau in taus]
    return {
        "ratio_of_totals": difference(whole, [0.0] * len(whole), asked),
        "mean_over_questions": difference(each, [0.0] * len(each)),
    }


def _like(cells: Sequence[Cell], cell: Cell, method: str, draft: str) -> Cell | None:
    """The cell of another method at the same temperature and batch."""
    wanted = method, draft, cell.temperature, cell.batch
    alike = (each for each in cells if (each.method, each.draft, each.temperature, each.batch) == wanted)
    return next(alike, None)


def _over(cell: Cell, other: Cell | None) -> dict[str, float | None] | None:
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
            ours, theirs = lengths(cell.taus, cell.asked), lengths(other.taus, other.asked)
            both = [question for question in ours if question in theirs]  # a run may be interrupted
            apart = difference([ours[each] for each in both], [theirs[each] for each in both])
            found.append(
                {
                    "verifiers": [better, worse],
                    "draft": cell.draft,
                    "temperature": cell.temperature,
                    "batch": cell.batch,
                    **means_apart(cell.taus, cell.asked, other.taus, other.asked).finite,
                    "mean_over_questions": apart.finite,
                    "same_steps": {"steps": len(other.asked), **same.finite},
                }
            )
    return found


def _method(row: dict[str, Any]) -> str:
    """A cell's method, and its batch if that is not 1."""
    return row["method"] if row["batch"] == 1 else f"{row['method']} x{row['batch']}"


def _spelled(found: dict[str, Any] | None, style: str = ".2f") -> str:
    """An estimate with its interval, if it has one; the ratio of a cell to itself is just 1."""
    if found is None:
        return ""
    value, low, high = found["value"], found["low"], found["high"]
    if low == high == 1:
        return "1"
    return f"{value:{style}} \\[{low:{style}}, {high:{style}}]" if high is not None else f"{value:{style}}"


def tables(rows: Rows, versus: Rows, name: str) -> list[Table]:
    """Speed, latency and acceptance, one line per cell; and differences, one line per pair of verifiers."""
    start, mean = ("T", "draft", "method"), "over questions"
    headings = "tokens/s", "x faster plain", "x assisted", "phases %"
    speed = screen.table(f"Speed: {name}", "lllrrrr", *start, *headings)
    latency = screen.table("Latency in ms", "lllrrr", *start, "prefill", "first token", "next tokens")
    selecting = ["verified"] if any(row["selection"] for row in rows) else []
    headings = "MAT", mean, "predicted", "stateless", "full inf.", *selecting, "by position"
    accepted = screen.table("Acceptance", "lll" + "r" * len(headings), *start, *headings)
    headings = "T", "draft", "verifiers", "measured", mean, "on the same steps", "steps"
    apart = screen.table("Differences in block efficiency", "lllrrrr", *headings)
    for row in rows:
        named = f"{row['temperature']:g}", row["draft"], _method(row)
        phases = row["phases"]
        spent = "/".join(f"{100 * phases[each]:.0f}" for each in PHASES) if phases else ""
        ratios = [_spelled(row["over_faster_plain"]), _spelled(row["over_assisted"])]
        speed.add_row(*named, f"{row['tokens_per_second']:.1f}", *ratios, spent)
        times = [row[each] for each in ("prefill", "time_to_first_token", "time_per_output_token")]
        if times[0] is not None:
            latency.add_row(*named, *("" if each is None else f"{1e3 * each:.1f}" for each in times))
        if "steps" in row:
            (low, high), middle = row["interval"], row["predicted_mean_acceptance_length"]
            accepted.add_row(
                *(*named, f"{row['mean_acceptance_length']:.2f}", _spelled(row["mean_over_questions"])),
                f"{middle:.2f} ± {max(high - middle, middle - low):.2f}",
                *("" if bound is None else f"{1 + bound:.2f}" for bound in row["bounds"].values()),
                *(f"{row['verified_per_call']:.1f}" for _ in selecting),
                " ".join(f"{each:.2f}" for each in row["acceptance_rate_per_position"]),
                style="bold red" if row["problems"] else "",
            )
    for each in versus:
        same, named = each["same_steps"], (f"{each['temperature']:g}", each["draft"])
        parts = (_spelled(one, "+.2f") for one in (each, each["mean_over_questions"], same))
        apart.add_row(*named, " - ".join(each["verifiers"]), *parts, f"{same['steps']:,}")
    for column in (*speed.columns, *latency.columns, *accepted.columns[:3], *apart.columns[2:]):
        column.no_wrap = True
    return [each for each in (speed, latency, accepted, apart) if each is speed or each.row_count]


NOTES = f"""\
x: ratios of tokens a second over paired repeats, {LEVEL:.0%} t-intervals; faster plain: plain decoding by
this engine or by transformers; x8: eight texts at once; phases: {"/".join(PHASES)}
prefill, first token (prefill included) and next token: means of texts, each from its turn on
MAT: mean acceptance length, the extra token counted (block efficiency): all tokens over all steps; over
questions: each question counts the same. predicted: from the rows seen, its interval holds at error {ERROR:g}
a cell; stateless, full inf.: bounds on it, plus 1
verified: drafted tokens of a batch in a call of the target
differences: {LEVEL:.0%} t-intervals, clustered by question; measured: each verifier on its own texts; on the
same steps: E[tau | draft] of both, from the rows of the steps that the second one took"""


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
