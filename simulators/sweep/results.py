"""Reading a results folder back."""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from draftproof.simulators.sweep.columns import PLACE, place
from draftproof.simulators.sweep.configuration import restored
from draftproof.simulators.sweep.families import Family, families
from draftproof.simulators.sweep.store import SHARDS, read_manifest
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance


class Results:
    """A results folder; BadInput when it is none."""

    def __init__(self, folder: Path | str):
        self.folder = Path(folder)
        self.manifest = read_manifest(self.folder)

    @property
    def metrics(self) -> list[str]:
        """The metrics that were asked for."""
        return self.manifest["metrics"]

    def shards(self, metric: str) -> list[Path]:
        """The finished shards of a metric, in order."""
        return sorted((self.folder / SHARDS).glob(f"{metric}-*.parquet"))

    def tables(self, metric: str, columns: Collection[str] | None = None) -> Iterator[pa.Table]:
        """The rows of a metric, shard by shard; all columns, or those of some names that there are."""
        return (_read(path, columns) for path in self.shards(metric))

    def table(self, metric: str) -> pa.Table:
        """All rows of a metric; BadInput when nothing of it is finished."""
        parts = list(self.tables(metric))
        if not parts:
            raise BadInput(f"{self.folder}: has no results of {metric!r}")
        return pa.concat_tables(
            parts, promote_options="default"
        )  # they differ in which columns have no nulls

    def instance(self, row: Mapping[str, Any]) -> Instance:
        """The exact instance that a row is about, made again from its columns."""
        wanted = {name: row[name] for name, _ in PLACE if name != "index"}
        for family in self._families:
            if place(family) == wanted:
                return family.instances[row["index"]]
        raise BadInput(f"{self.folder}: no family of its configuration has such a row")

    @cached_property
    def _families(self) -> list[Family]:
        documents = self.manifest["configuration"]["family"]
        return [family for each in documents for family in families(restored(each))]


def _read(path: Path, columns: Collection[str] | None) -> pa.Table:
    file = parquet.ParquetFile(path)
    names = file.schema_arrow.names
    return file.read(names if columns is None else [name for name in names if name in columns])
