"""A results folder as tables that DuckDB scans: nothing but what a question needs is held in memory."""

import json
from pathlib import Path
from typing import Any

from theory.errors import BadInput

FORMAT = 1
"""The version of the folder that is read."""

METRICS = ("check", "gap", "prove", "audit")


class Store:
    """A folder that `draftproof sweep` wrote; BadInput in one line where it is none.

    `metrics` are those with finished shards, each a view of that name; `manifest` is what the sweep
    says about itself, `finished` the number of its shards.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.manifest = _manifest(folder)
        shards = folder / "shards"
        found = {metric: sorted(shards.glob(f"{metric}-*.parquet")) for metric in METRICS}
        self.metrics = [metric for metric, files in found.items() if files]
        self.finished = sum(map(len, found.values()))
        if not self.metrics:
            raise BadInput(f"{folder}: no finished shard in it yet")
        duckdb = _duckdb()
        self._fault = duckdb.Error
        self._connection = duckdb.connect()
        for metric in self.metrics:
            files = [str(path) for path in found[metric]]
            try:
                self._connection.read_parquet(files).create_view(metric)
            except duckdb.Error as error:
                raise BadInput(f"{folder}: {str(error).splitlines()[0]}") from None

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The answer to a query over the views, as dictionaries."""
        try:
            answer = self._connection.execute(query)
            names = [column[0] for column in answer.description or ()]
            return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
        except self._fault as error:
            raise BadInput(f"{self.folder}: {str(error).splitlines()[0]}") from None


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{path}: {(error.strerror or str(error)).lower()}; is this a sweep's folder?") from None
    except ValueError:
        raise BadInput(f"{path}: not a manifest") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise BadInput(f"{path}: format is {found!r}, this version reads {FORMAT}")
    return manifest


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise BadInput("a report needs DuckDB: pip install 'draftproof[sweep]'") from None
    return duckdb
