"""A results folder as tables that DuckDB scans: nothing but what a question needs is held in memory."""

from pathlib import Path
from typing import Any

from draftproof.theory.errors import BadInput

METRICS = ("check", "gap", "prove", "audit")


class Store:
    """A folder that `draftproof sweep` wrote; BadInput in one line where it is none.

    `results` reads its manifest and remakes its instances; `metrics` are those with finished shards,
    each a view of that name; `finished` is the number of its shards.
    """

    def __init__(self, folder: Path):
        try:
            import duckdb

            from draftproof.simulators.sweep.manifest import FORMAT
            from draftproof.simulators.sweep.results import Results
        except ImportError as error:
            raise BadInput(f"report needs {error.name}: pip install 'draftproof[report]'") from None
        self.folder = folder
        self.results = Results(folder)
        if (version := self.results.manifest.get("format")) != FORMAT:
            raise BadInput(f"{folder}: its format is {version!r}; this version of draftproof reads {FORMAT}")
        found = {metric: self.results.shards(metric) for metric in METRICS}
        self.metrics = [metric for metric, shards in found.items() if shards]
        self.finished = sum(map(len, found.values()))
        if not self.metrics:
            raise BadInput(f"{folder}: has no finished shard yet")
        self._fault = duckdb.Error
        self._connection = duckdb.connect()
        for metric in self.metrics:
            shards = [str(path) for path in found[metric]]
            try:
                self._connection.read_parquet(shards).create_view(metric)
            except duckdb.Error as error:
                raise BadInput(f"{folder}: {str(error).splitlines()[0]}") from None

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The answer to a query over the views, as dictionaries."""
        answer = self._asked(query)
        names = [column[0] for column in answer.description or ()]
        return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]

    def made(self, name: str, query: str) -> str:
        """The name, when the answer to a query has become a table of that name."""
        self._asked(f"create table if not exists {name} as {query}")
        return name

    def _asked(self, query: str) -> Any:
        try:
            return self._connection.execute(query)
        except self._fault as error:
            raise BadInput(f"{self.folder}: {str(error).splitlines()[0]}") from None
