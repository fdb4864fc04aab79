"""Reads a results folder: its manifest, its rows as tables for DuckDB, and the instance of a row."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
from pydantic import ValidationError

from draftproof.simulators.laws.size import not_shown
from draftproof.simulators.study.configuration import Entry, Family, fault
from draftproof.simulators.study.plan import FAMILY, place
from draftproof.simulators.study.store import FORMAT, SHARDS, read_manifest
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.shared.reportable import Reportable, counted

Rows = list[dict[str, Any]]

SUMMARISED = {
    "check": ("lossless", ("total_variation", "expected_accepted")),
    "gap": (None, ("expected_accepted", "share_stateless")),
}
"""Metric -> the column of verdicts, the columns of numbers."""


class Results(Reportable):
    """A folder that `draftproof sweep` wrote; BadInput if it is not one. `to_frame` has its summary; `rows`
    answers a query, such as `select * from "check"`.
    """

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        self.manifest = read_manifest(self.folder)
        if (found := self.manifest.get("format")) != FORMAT:
            raise BadInput(f"{folder}: its format is {found!r}; this version of draftproof reads {FORMAT}")

    def shards(self, metric: str) -> list[Path]:
        """The finished shards of a metric, in order."""
        return sorted((self.folder / SHARDS).glob(f"{metric}-*.parquet"))

    @property
    def metrics(self) -> list[str]:
        """The metrics that have finished shards."""
        return [metric for metric in self.manifest["metrics"] if self.shards(metric)]

    def __str__(self) -> str:
        lines = self.summary()
        verifiers = counted(len({line["name"] for line in lines}), "verifier")
        return f"{self.folder}: {counted(sum(line['rows'] for line in lines), 'row')} of {verifiers}"

    def to_dict(self) -> dict[str, Any]:
        return {"results": str(self.folder), "summary": self.summary()}

    def rows(self, query: str = "") -> Rows:
        """The answer to an SQL query, as dictionaries, by default the summary; every metric with rows is a
        view named after it.
        """
        if not query:
            return [_flat(line) for line in self.summary()]
        try:
            answer = self._connection.execute(query)
        except duckdb.Error as error:
            raise BadInput(f"{self.folder}: {str(error).splitlines()[0]}") from None
        names = [column[0] for column in answer.description or ()]
        return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]

    def instance(self, row: Mapping[str, Any]) -> Instance:
        """The exact instance of a row, recomputed from its columns."""
        wanted = {name: row[name] for name, _ in FAMILY}
        for family in self._families:
            if place(family) == wanted:
                return family.instances[row["index"]]
        raise BadInput(f"{self.folder}: no family of its configuration has such a row")

    def summary(self) -> Rows:
        """One line for each metric, kind of draft and verifier: its rows, verdicts and statistics of numbers.
        Those of one kind are over the same drafts.
        """
        found: Rows = []
        for metric in self.metrics:
            verdict, numbers = SUMMARISED[metric]
            columns = [
                f"{{'mean': avg({n}), 'least': min({n}), 'largest': max({n})}} as {n}" for n in numbers
            ]
            if verdict:
                columns.insert(0, f"histogram(if({verdict}, 'lossless', 'lossy')) as verdicts")
                columns += [f"max({size}) filter ({verdict}) as {size}" for size in ("depth", "vocab")]
            numbered = f"'{metric}' as metric, kind, verifier as name, count(*) as rows"
            query = f'select {", ".join([numbered, *columns])} from "{metric}" group by kind, name'
            for line in self.rows(f"{query} order by kind, name"):
                size = line.pop("depth", 0), line.pop("vocab", 0)
                if {*line.get("verdicts", ())} == {"lossless"} and (unseen := not_shown(*size)):
                    line["not_shown"] = unseen
                unknown = [n for n in numbers if line[n]["mean"] is None]
                found.append({key: value for key, value in line.items() if key not in unknown})
        return found

    @cached_property
    def _families(self) -> list[Family]:
        try:
            entries = [Entry.model_validate(each) for each in self.manifest["configuration"]["family"]]
        except ValidationError as error:  # a draft of the user's own is gone
            raise BadInput(f"{self.folder}: {fault(error)}") from None
        return [family for entry in entries for family in entry.families()]

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect()
        for metric in self.metrics:
            connection.read_parquet(list(map(str, self.shards(metric)))).create_view(metric)
        return connection


def _flat(line: dict[str, Any]) -> dict[str, Any]:
    # With a column for each statistic of a number, and for each verdict.
    made: dict[str, Any] = {}
    for name, value in line.items():
        within = value if isinstance(value, dict) else {"": value}
        made |= {f"{name}_{key}".strip("_"): each for key, each in within.items()}
    return made
