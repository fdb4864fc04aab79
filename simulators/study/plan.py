"""The work of a sweep as numbered chunks, and the columns of their rows."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from flint import fmpq
from pyarrow import parquet

from draftproof.simulators.instances.files import draft_document, spelled
from draftproof.simulators.laws.verdict import Wrong
from draftproof.simulators.study.configuration import Entry
from draftproof.simulators.study.families import Family
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import text

METRICS = {name: f"draftproof.simulators.study.metrics.{name}:{name.upper()}" for name in ("check", "gap")}
"""Name -> `module:NAME` of the metric; draftproof.py adds those of `proofs_check`."""


class Job(Protocol):
    """A piece of work, cheap to pickle; every call returns the same rows."""

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
    """A job with its number in the plan."""

    number: int
    metric: str
    job: Job

    @property
    def name(self) -> str:
        """The name of its shard."""
        return f"{self.metric}-{self.number:06d}"


def plan(entries: Iterable[Entry], metrics: Mapping[str, str]) -> list[Chunk]:
    """Every chunk of a configuration, in order; BadInput if its families cannot be made."""
    out: list[Chunk] = []
    for entry in entries:
        for name in entry.metrics:
            metric: Metric = resolve_name(metrics[name])
            jobs = enumerate(metric.jobs(entry), len(out))
            out += [Chunk(number, name, job) for number, job in jobs]
    return out


def computed(chunk: Chunk) -> tuple[str, bytes]:
    """(name, Parquet file) of a chunk. Any error becomes BadInput that names the chunk."""
    try:
        return chunk.name, encoded(chunk.job())
    except BadInput as error:
        raise BadInput(f"chunk {chunk.name}: {error}") from None
    except Exception as error:
        raise BadInput(f"chunk {chunk.name}: {type(error).__name__}: {error}") from error


def encoded(table: pa.Table) -> bytes:
    """The bytes of a Parquet file, the same for the same table."""
    # Floats hardly compress.
    numbers = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    packed: Any = {name: "NONE" if name in numbers else "LZ4" for name in table.column_names}
    words: Any = [name for name in table.column_names if name not in numbers and name != "index"]
    out = pa.BufferOutputStream(pa.system_memory_pool())  # reuses its memory from chunk to chunk
    options: Any = {"write_statistics": False, "store_schema": False}
    with parquet.ParquetWriter(
        out, table.schema, compression=packed, use_dictionary=words, **options
    ) as writer:
        writer.write_table(table)
    return out.getvalue().to_pybytes()


Values = dict[str, Any]
"""Column name -> one entry per row (array or list), or one value for all rows."""

SIZE = (("draft", pa.string()), ("kind", pa.string()), ("depth", pa.int32()), ("vocab", pa.int32()))
FAMILY = (*SIZE, ("rows", pa.string()), ("seed", pa.int64()), ("temperature", pa.float64()))
PLACE = (*FAMILY, ("index", pa.int64()))
WITNESS = tuple((f"witness_{part}", pa.string()) for part in ("prefix", "got", "want"))


def number(name: str) -> tuple[tuple[str, pa.DataType], ...]:
    """The two columns of a number that may be exact."""
    return (name, pa.float64()), (f"{name}_exact", pa.string())


def size(draft: Scheme, vocab: int) -> Values:
    """The columns SIZE."""
    document = json.dumps(draft_document(draft))
    return {"draft": document, "kind": draft.label, "depth": draft.depth, "vocab": vocab}


def place(family: Family) -> Values:
    """The columns FAMILY."""
    own = {"rows": family.rows, "seed": family.seed, "temperature": family.temperature}
    return size(family.draft, family.vocab) | own


def exactly(name: str, value: fmpq | None) -> Values:
    """Both columns of an exact number."""
    if value is None:
        return {name: None, f"{name}_exact": None}
    return {name: int(value.p) / int(value.q), f"{name}_exact": text(value)}


def witness(wrong: Wrong | None) -> Values:
    """The columns WITNESS."""
    found = (spelled(wrong.prefix), text(wrong.got), text(wrong.want)) if wrong else (None,) * 3
    return {name: value for (name, _), value in zip(WITNESS, found, strict=True)}


def columns(schema: pa.Schema, parts: Iterable[Values]) -> pa.Table:
    """A table that concatenates the parts; NaN becomes null. Each part has an array `index`.

    Columns of words are dictionary-encoded, so that a repeated word costs little.
    """
    tables = []
    for part in parts:
        arrays = [_column(field.type, part.get(field.name), len(part["index"])) for field in schema]
        tables.append(pa.Table.from_arrays(arrays, schema.names))
    return pa.concat_tables(tables).unify_dictionaries()


def _column(kind: pa.DataType, entry: Any, count: int) -> pa.Array:
    words = pa.types.is_string(kind)
    if isinstance(entry, list | np.ndarray):
        made = pa.array(entry, kind, from_pandas=True)
        return made.dictionary_encode() if words else made
    if entry is None:
        return pa.nulls(count, pa.dictionary(pa.int32(), kind) if words else kind)
    if words:
        return pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), pa.array([entry], kind))
    return pa.repeat(pa.scalar(entry, kind), count)
