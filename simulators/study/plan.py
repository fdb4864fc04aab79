"""The work of a sweep as numbered chunks, and the columns of their rows."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
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
from draftproof.simulators.support.sources import Root
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.numbers import text

METRICS = {
    name: f"draftproof.simulators.study.metrics.{name}:{name.upper()}" for name in ("check", "gap", "audit")
}
"""Name -> `module:NAME` of the metric; draftproof.py adds those of `proofs_check`."""

MADE_OF = "draftproof"
"""The key of a shard's metadata under which it records what it was made of."""


class Job(Protocol):
    """A piece of work, cheap to pickle; every call returns the same rows.

    `about`: what the rows are about, besides the verifiers or targets. `sources`: the name of each of these,
    with a hash of the sources that decide its rows. `only` is the job for some of them.
    """

    @property
    def evaluations(self) -> int: ...

    @property
    def about(self) -> str: ...

    def sources(self, known: dict[Root, str]) -> dict[str, str]: ...

    def only(self, names: tuple[str, ...]) -> "Job": ...

    def __call__(self) -> pa.Table: ...


@dataclass(frozen=True)
class Metric:
    """A name, the columns of its rows, and how an entry of the configuration is cut into jobs."""

    name: str
    schema: pa.Schema
    jobs: Callable[[Entry], Iterator[Job]]


@dataclass(frozen=True)
class Chunk:
    """A job with its number in the plan.

    `sources`: every verifier or target of the shard, with a hash of the sources that decide its rows.
    `names`: those of them that the job computes.
    """

    number: int
    metric: str
    job: Job
    sources: dict[str, str]
    names: tuple[str, ...]

    @property
    def made_of(self) -> dict[str, Any]:
        """What decides the bytes of the shard besides the configuration; the shard records it."""
        return {"about": self.job.about, "sources": self.sources}

    @property
    def name(self) -> str:
        """The name of its shard."""
        return f"{self.metric}-{self.number:06d}"


def plan(entries: Iterable[Entry], metrics: Mapping[str, str]) -> list[Chunk]:
    """Every chunk of a configuration, in order; BadInput if its families cannot be made."""
    out: list[Chunk] = []
    known: dict[Root, str] = {}
    for entry in entries:
        for name in entry.metrics:
            metric: Metric = resolve_name(metrics[name])
            jobs = enumerate(metric.jobs(entry), len(out))
            for number, job in jobs:
                sources = job.sources(known)
                out.append(Chunk(number, name, job, sources, tuple(sources)))
    return out


def computed(chunk: Chunk) -> tuple[str, bytes]:
    """(name, Parquet file) of a chunk. Any error becomes BadInput that names the chunk."""
    try:
        return chunk.name, encoded(chunk.job(), chunk.made_of)
    except BadInput as error:
        raise BadInput(f"chunk {chunk.name}: {error}") from None
    except Exception as error:
        raise BadInput(f"chunk {chunk.name}: {type(error).__name__}: {error}") from error


def encoded(table: pa.Table, made_of: Mapping[str, Any]) -> bytes:
    """The bytes of a Parquet file, the same for the same table; `made_of` is kept in its metadata."""
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
        writer.add_key_value_metadata({MADE_OF: json.dumps(made_of, sort_keys=True)})
    return out.getvalue().to_pybytes()


def made_of(path: Path) -> dict[str, Any]:
    """What a shard records of its making; empty if it records nothing."""
    return json.loads((parquet.read_metadata(path).metadata or {}).get(MADE_OF.encode(), b"{}"))


def replaced(old: pa.Table, new: pa.Table, names: Collection[str]) -> pa.Table:
    """The old rows, except that those of the names are the new ones; both tables are in one order."""
    first = old.column(0).to_pylist()
    changed = np.array([name in names for name in first])
    where = np.concatenate([np.flatnonzero(~changed), np.flatnonzero(changed)])
    return pa.concat_tables([old.filter(pa.array(~changed)), new]).take(pa.array(np.argsort(where)))


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
