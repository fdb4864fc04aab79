"""The work of a sweep as numbered chunks, each a pure function of the configuration and its number."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import parquet

from draftproof.simulators.study.configuration import Entry
from draftproof.theory.errors import BadInput

METRICS = {
    name: f"draftproof.simulators.study.metrics.{name}:{name.upper()}" for name in ("check", "gap", "audit")
}
"""Name -> where the metric is defined; draftproof.py adds those of `proofs_check`."""


class Job(Protocol):
    """A pure piece of work, small to send: its call returns its rows, the same every time."""

    @property
    def evaluations(self) -> int: ...

    def __call__(self) -> pa.Table: ...


@dataclass(frozen=True)
class Metric:
    """A name, the columns of its rows, and how an entry of the configuration is cut into jobs."""

    name: str
    schema: pa.Schema
    jobs: Callable[[Entry], Iterator[Job]]


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
    out: list[Chunk] = []
    for entry in entries:
        for name in entry.metrics:
            metric: Metric = resolve_name(metrics[name])
            out += [Chunk(number, name, job) for number, job in enumerate(metric.jobs(entry), len(out))]
    return out


def computed(chunk: Chunk) -> bytes:
    """A chunk's shard, a Parquet file; any fault is BadInput that names the chunk."""
    try:
        return encoded(chunk.job())
    except BadInput as error:
        raise BadInput(f"chunk {chunk.name}: {error}") from None
    except Exception as error:
        raise BadInput(f"chunk {chunk.name}: {type(error).__name__}: {error}") from error


def encoded(table: pa.Table) -> bytes:
    """The bytes of a Parquet file, the same for the same table.

    >>> table = pa.table({"x": [0.5, 0.25]})
    >>> parquet.read_table(pa.BufferReader(encoded(table))).column("x").to_pylist()
    [0.5, 0.25]
    """
    numbers = [field.name for field in table.schema if pa.types.is_floating(field.type)]  # hardly compress
    packed: Any = {name: "NONE" if name in numbers else "LZ4" for name in table.column_names}
    words: Any = [name for name in table.column_names if name not in numbers and name != "index"]
    out = pa.BufferOutputStream(pa.system_memory_pool())  # keeps its pages from chunk to chunk
    parquet.write_table(
        table, out, compression=packed, use_dictionary=words, write_statistics=False, store_schema=False
    )
    return out.getvalue().to_pybytes()
