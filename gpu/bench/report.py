"""Timed decoding as tables and JSON, with intervals over repeats and questions; names as in vLLM and
Spec-Bench.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from math import exp, inf, isfinite, log, sqrt
from statistics import fmean
from typing import Any, TypeAlias

import numpy as np
from rich.table import Table
from scipy.stats import t

from draftproof.gpu.bench.models import ASSISTED, PLAIN, TRANSFORMERS, VERSUS, Cell
from draftproof.gpu.engine.loop import PHASES
from draftproof.simulators import screen
from draftproof.simulators.support.anytime import ERROR

Rows: TypeAlias = Sequence[dict[str, Any]]

LEVEL = 0.95  # coverage of the t-intervals, if cluster means (of logarithms, for ratios) are normal


@dataclass(frozen=True)
class Estimate:
    """A value and its interval; the ends are infinite if there are fewer than two clusters."""

    value: float
    low: float
    high: float

    @property
    def finite(self) -> dict[str, float | None]:
        """As a JSON object; infinite ends become null."""
        return {name: value if isfinite(value) else None for name, value in asdict(self).items()}


def difference(
    ours: Sequence[float], theirs: Sequence[float], clusters: Sequence[Hashable] | None = None
) -> Estimate:
    """The mean difference of pairs, with a t-interval over independent clusters (default: every pair one)."""
    names = clusters or range(len(ours))
    return means_apart(np.subtract(ours, theirs).tolist(), names, [0.0] * len(names), names)


def means_apart(
    ours: Sequence[float], clusters: Sequence[Hashable], theirs: Sequence[float], other: Sequence[Hashable]
) -> Estimate:
    """The difference of two unpaired means, with a t-interval over independent clusters. Both sides may have
    numbers of the same cluster.

    >>> means_apart([2.0, 4.0], "ab", [1.0, 2.0, 3.0], "aab").value
    1.0
    """
    value = float(np.mean(ours)) - float(np.mean(theirs))
    sums: defaultdict[Hashable, float] = defaultdict(float)  # of each cluster; zero in expectation
    for names, numbers, sign in ((clusters, ours, 1), (other, theirs, -1)):
        for cluster, off in zip(names, np.subtract(numbers, np.mean(numbers)) / len(numbers), strict=True):
            sums[cluster] += sign * float(off)
    count = len(sums)
    if count < 2:
        return Estimate(value, -inf, inf)
    deviation = sqrt(count / (count - 1) * sum(part**2 for part in sums.values()))
    half = float(t.ppf((1 + LEVEL) / 2, count - 1)) * deviation
    return Estimate(value, value - half, value + half)


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Estimate:
    """The geometric mean of the ratios of paired repeats."""
    found = difference([log(a) for a in ours], [log(b) for b in theirs])
    return Estimate(exp(found.value), exp(found.low), exp(found.high))


def row_of(cell: Cell, cells: Sequence[Cell]) -> dict[str, Any]:
    """A cell's JSON object, with its speed over that of others among the cells.

    `mean_acceptance_length` counts the extra token (vLLM's mean acceptance length, Spec-Bench's MAT, block
    efficiency); `draft_acceptance_rate` is accepted over drafted tokens and
    `acceptance_rate_per_position[l - 1]` the fraction of drafts with l or more accepted tokens (vLLM).
    `over_faster_plain` is the ratio to the faster one of plain decoding by this engine and by transformers.
    """
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
    prompt.
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
    """Speed and acceptance, one line per cell; and differences, one line per pair of verifiers."""
    start = "T", "draft", "method"
    headings = "tokens/s", "x faster plain", "x assisted", "phases %"
    speed = screen.table(f"Speed: {name}", "lllrrrr", *start, *headings)
    selecting = ["verified"] if any(row["selection"] for row in rows) else []
    headings = "MAT", "predicted", "stateless", "full inf.", *selecting, "by position"
    accepted = screen.table("Acceptance", "lll" + "r" * len(headings), *start, *headings)
    headings = "T", "draft", "verifiers", "measured", "on the same steps", "steps"
    apart = screen.table("Differences in block efficiency", "lllrrr", *headings)
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
    for each in versus:
        same, named = each["same_steps"], (f"{each['temperature']:g}", each["draft"])
        parts = (_spelled(one, "+.2f") for one in (each, same))
        apart.add_row(*named, " - ".join(each["verifiers"]), *parts, f"{same['steps']:,}")
    for column in (*speed.columns, *accepted.columns[:3], *apart.columns[2:]):
        column.no_wrap = True
    return [each for each in (speed, accepted, apart) if each is speed or each.row_count]


NOTES = f"""\
x: ratios of tokens a second over paired repeats, {LEVEL:.0%} t-intervals; faster plain: plain decoding by
this engine or by transformers; x8: eight texts at once; phases: {"/".join(PHASES)}
MAT: mean acceptance length, the extra token counted (block efficiency): all tokens over all steps.
predicted: from the rows seen, its interval holds at error {ERROR:g} a cell; stateless, full inf.: bounds on
it, plus 1
verified: drafted tokens of a batch in a call of the target
differences: {LEVEL:.0%} t-intervals, clustered by prompt; measured: each verifier on its own texts; on the
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
