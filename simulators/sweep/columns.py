"""The columns that shards share, and how numbers become columns."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from flint import fmpq

from draftproof.simulators.instances.files import draft_document, spelled
from draftproof.simulators.sweep.families import Family
from draftproof.simulators.verdict import Wrong
from draftproof.theory.drafts import Scheme
from draftproof.theory.numbers import text

Values = dict[str, Any]
"""Column name -> one entry a row, as an array or a list, or one value for all rows."""

SIZE = (("draft", pa.string()), ("kind", pa.string()), ("depth", pa.int32()), ("vocab", pa.int32()))
PLACE = (
    *SIZE,
    ("rows", pa.string()),
    ("seed", pa.int64()),
    ("temperature", pa.float64()),
    ("index", pa.int64()),
)
WITNESS = tuple((f"witness_{part}", pa.string()) for part in ("prefix", "got", "want"))


def schema(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    """The columns of a metric."""
    return pa.schema(list(columns))


def number(name: str) -> tuple[tuple[str, pa.DataType], ...]:
    """The two columns of a number that may be exact."""
    return (name, pa.float64()), (f"{name}_exact", pa.string())


def size(draft: Scheme, vocab: int) -> dict[str, Any]:
    """What the columns SIZE say."""
    return {
        "draft": json.dumps(draft_document(draft)),
        "kind": draft.label,
        "depth": draft.depth,
        "vocab": vocab,
    }


def place(family: Family) -> dict[str, Any]:
    """What the columns PLACE say of all of a family, but for the index."""
    return {
        **size(family.draft, family.vocab),
        "rows": family.rows,
        "seed": family.seed,
        "temperature": family.temperature,
    }


def exactly(name: str, value: fmpq | None) -> dict[str, Any]:
    """Both columns of an exact number."""
    if value is None:
        return {name: None, f"{name}_exact": None}
    return {name: int(value.p) / int(value.q), f"{name}_exact": text(value)}


def witness(wrong: Wrong | None) -> dict[str, str | None]:
    """The columns WITNESS."""
    if wrong is None:
        return dict.fromkeys((name for name, _ in WITNESS))
    return {
        "witness_prefix": spelled(wrong.prefix),
        "witness_got": text(wrong.got),
        "witness_want": text(wrong.want),
    }


def table(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A table from rows one by one."""
    return pa.Table.from_pylist(list(rows), schema=schema)


def columns(schema: pa.Schema, parts: Sequence[Values]) -> pa.Table:
    """A table from parts, one below the other; each entry is an array, or one value for all of its part.

    NaN is null. A column of such values is run-end encoded, one run a part or one for all: what does
    not change from row to row costs nothing by the row.
    """
    counts = [len(part["index"]) for part in parts]
    made = [_column(field.type, [part.get(field.name) for part in parts], counts) for field in schema]
    return pa.table(made, names=schema.names)


def _column(kind: pa.DataType, entries: Sequence[Any], counts: Sequence[int]) -> pa.Array | pa.ChunkedArray:
    if any(isinstance(entry, list | np.ndarray) for entry in entries):
        return pa.chunked_array([_piece(kind, *piece) for piece in zip(entries, counts, strict=True)])
    if len(set(entries)) == 1:
        entries, counts = entries[:1], [sum(counts)]
    return pa.RunEndEncodedArray.from_arrays(pa.array(np.cumsum(counts), pa.int32()), pa.array(entries, kind))


def _piece(kind: pa.DataType, entry: Any, count: int) -> pa.Array:
    if isinstance(entry, np.ndarray):
        return pa.array(entry, kind, from_pandas=bool(np.isnan(entry).any()))
    if isinstance(entry, list):
        return pa.array(entry, kind, from_pandas=True)
    return pa.nulls(count, kind) if entry is None else pa.repeat(pa.scalar(entry, kind), count)
