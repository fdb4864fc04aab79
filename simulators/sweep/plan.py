"""The work of a sweep as numbered chunks, each a pure function of the configuration and its number."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name

import pyarrow as pa
from pyarrow import parquet

from simulators.sweep.configuration import Entry
from simulators.sweep.metric import Job, Metric
from theory.errors import BadInput

METRICS = {
    "check": "simulators.sweep.metrics.check:CHECK",
    "gap": "simulators.sweep.metrics.gap:GAP",
    "audit": "simulators.sweep.metrics.audit:AUDIT",
}
"""Name -> where the metric is defined; other rooms add theirs at the front door."""


@dataclass(frozen=True)
class Chunk:
    """A job with its place in the plan."""

    number: int
    metric: str
    job: Job

    @property
    def name(self) -> str:
        """The name of its shard."""
        return f"{self.metric}-{self.number:06d}"


def plan(entries: Iterable[Entry], metrics: Mapping[str, str]) -> list[Chunk]:
    """Every chunk of a configuration, in order; BadInput where its families cannot be made."""
    found: dict[str, Metric] = {}
    out: list[Chunk] = []
    for entry in entries:
        for name in entry.metrics:
            metric = found.setdefault(name, resolve_name(metrics[name]))
            out += [Chunk(number, name, job) for number, job in enumerate(metric.jobs(entry), len(out))]
    return out


def computed(chunk: Chunk) -> tuple[str, bytes]:
    """A chunk's name and its shard; what goes wrong is BadInput that names the chunk."""
    try:
        return chunk.name, encoded(chunk.job())
    except BadInput as error:
        raise BadInput(f"chunk {chunk.name}: {error}") from None
    except Exception as error:
        raise BadInput(f"chunk {chunk.name}: {type(error).__name__}: {error}") from error


def _many(field: pa.Field) -> bool:
    # Columns with about as many values as rows: a dictionary of them is work for nothing.
    return pa.types.is_floating(field.type) or field.name == "index"


def encoded(table: pa.Table) -> bytes:
    """A table as the bytes of a Parquet file, the same ones every time."""
    out = pa.BufferOutputStream()
    few = [name for name in table.column_names if not _many(table.schema.field(name))]
    packed = {name: "DELTA_BINARY_PACKED" for name in table.column_names if name == "index"}
    parquet.write_table(
        table.combine_chunks(),
        out,
        compression="lz4",
        use_dictionary=few,  # pyright: ignore[reportArgumentType]
        column_encoding=packed,
        write_statistics=False,
        store_schema=False,
    )
    return out.getvalue().to_pybytes()
