"""What a sweep found, verifier by verifier, without holding all its rows at once."""

from dataclasses import dataclass, field
from math import fsum, nan
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from simulators.sweep.results import Results

NUMBERS = ("total_variation", "expected_accepted", "share_stateless")
"""Columns that are summed up."""


@dataclass
class Line:
    """One metric of one verifier or target: how many rows, how many of each verdict, sums and extremes."""

    metric: str
    name: str
    rows: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)
    sums: dict[str, list[float]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)
    least: dict[str, float] = field(default_factory=dict)

    def add(self, part: pa.Table) -> None:
        """Takes in the rows of one shard."""
        self.rows += part.num_rows
        for column in ("verdict", "lossless"):
            if column in part.column_names:
                for each in part[column].value_counts().to_pylist():
                    said = _verdict(each["values"])
                    self.verdicts[said] = self.verdicts.get(said, 0) + each["counts"]
        for column in NUMBERS:
            if column in part.column_names and (known := part[column].drop_null()).length():
                self.sums.setdefault(column, []).append(pc.sum(known).as_py())
                self.counts[column] = self.counts.get(column, 0) + known.length()
                low, high = pc.min_max(known).as_py().values()
                self.largest[column] = max(self.largest.get(column, high), high)
                self.least[column] = min(self.least.get(column, low), low)

    def mean(self, column: str) -> float:
        """The mean of a column over the rows where it is known; NaN where it is nowhere."""
        return fsum(self.sums[column]) / self.counts[column] if column in self.sums else nan

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
        who = "target" if metric == "audit" else "verifier"
        lines: dict[str, Line] = {}
        for table in results.tables(metric):
            for name in pc.unique(table[who]).to_pylist():
                line = lines.setdefault(name, Line(metric, name))
                line.add(table.filter(pc.equal(table[who], name)))
        found += [lines[name] for name in sorted(lines)]
    return found


def _verdict(value: bool | str | None) -> str:
    if isinstance(value, str):
        return value
    return "not decided" if value is None else "lossless" if value else "lossy"
