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


def computed(chunk: Chunk) -> tuple[str, pa.Buffer]:
    """A chunk's name and its shard; what goes wrong is BadInput that names the chunk."""
    try:
        return chunk.name, encoded(chunk.job())
    except BadInput as error:
        raise BadInput(f"chunk {chunk.name}: {error}") from None
    except Exception as error:
        raise BadInput(f"chunk {chunk.name}: {type(error).__name__}: {error}") from error


def encoded(table: pa.Table) -> pa.Buffer:
    """A table as the bytes of a Parquet file, the same ones every time.

    Words are dictionaries; floats of lanes hardly compress, so none are; `index` counts up.
    """
    words = [field.name for field in table.schema if _words(field.type)]
    packed = {field.name: "NONE" if pa.types.is_floating(field.type) else "LZ4" for field in table.schema}
    out = pa.BufferOutputStream(pa.system_memory_pool())  # which keeps its pages from chunk to chunk
    parquet.write_table(
        table.combine_chunks(),
        out,
        compression=packed,  # pyright: ignore[reportArgumentType]
        use_dictionary=words,  # pyright: ignore[reportArgumentType]
        column_encoding={name: "DELTA_BINARY_PACKED" for name in table.column_names if name == "index"},
        write_batch_size=2**17,
        write_statistics=False,
        store_schema=False,
    )
    return out.getvalue()


def _words(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_dictionary(kind)
