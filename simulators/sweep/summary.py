"""What a sweep found, verifier by verifier, without holding all its rows at once."""

from dataclasses import dataclass, field
from math import inf, nan
from typing import Any

import pyarrow as pa

from draftproof.simulators.sweep.results import Results

NUMBERS = ("total_variation", "expected_accepted", "share_stateless")
"""Columns that are summed up."""

VERDICTS = ("verdict", "lossless")


@dataclass
class Line:
    """One metric of one verifier or target: how many rows, how many of each verdict, sums and extremes."""

    metric: str
    name: str
    rows: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)

    def add(self, part: dict[str, Any]) -> None:
        """Takes in sums, counts and extremes of the numbers of one shard."""
        for column in NUMBERS:
            if known := part.get(f"{column}_count"):
                self.sums[column] = self.sums.get(column, 0.0) + part[f"{column}_sum"]
                self.counts[column] = self.counts.get(column, 0) + known
                self.largest[column] = max(self.largest.get(column, -inf), part[f"{column}_max"])
                self.least[column] = min(self.least.get(column, inf), part[f"{column}_min"])

    def count(self, verdict: bool | str | None, rows: int) -> None:
        """Takes in how many rows of one shard have a verdict."""
        said = _verdict(verdict)
        self.verdicts[said] = self.verdicts.get(said, 0) + rows

    def mean(self, column: str) -> float:
        """The mean of a column over the rows where it is known; NaN where it is nowhere."""
        return self.sums[column] / self.counts[column] if column in self.sums else nan

    def document(self) -> dict[str, Any]:
        """For scripts; only what is known."""
        said: dict[str, Any] = {"metric": self.metric, "name": self.name, "rows": self.rows}
        said |= {"verdicts": self.verdicts} if self.verdicts else {}
        for column in self.sums:
            said[column] = {
                "mean": self.mean(column),
                "least": self.least[column],
                "largest": self.largest[column],
            }
        return said


def summary(results: Results) -> list[Line]:
    """A line for each metric and verifier, in the order of the metrics and by name."""
    found: list[Line] = []
    for metric in results.metrics:
        lines: dict[str, Line] = {}
        who = "target" if metric == "audit" else "verifier"
        for table in results.tables(metric, (who, *NUMBERS, *VERDICTS)):
            _add(lines, metric, who, table)
        found += [lines[name] for name in sorted(lines)]
    return found


def _add(lines: dict[str, Line], metric: str, who: str, table: pa.Table) -> None:
    there = [column for column in NUMBERS if column in table.column_names]
    wanted = [(column, how) for column in there for how in ("sum", "count", "min", "max")]
    for part in table.group_by(who).aggregate([*wanted, (who, "count")]).to_pylist():
        line = lines.setdefault(part[who], Line(metric, part[who]))
        line.rows += part[f"{who}_count"]
        line.add(part)
    for verdict in VERDICTS:
        if verdict in table.column_names:
            for part in table.group_by([who, verdict]).aggregate([(who, "count")]).to_pylist():
                lines[part[who]].count(part[verdict], part[f"{who}_count"])


def _verdict(value: bool | str | None) -> str:
    if isinstance(value, str):
        return value
    return "not decided" if value is None else "lossless" if value else "lossy"
