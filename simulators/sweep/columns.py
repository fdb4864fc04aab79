"""The columns that shards share, and how numbers become columns."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from flint import fmpq

from simulators.instances.files import draft_document, spelled
from simulators.sweep.families import Family
from simulators.verdict import Wrong
from theory.drafts import Scheme
from theory.numbers import text

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

    NaN is null. For speed, words that stand for whole parts are dictionaries, and a column without
    nulls is declared to have none: Parquet writes both three times as fast.
    """
    counts = [len(part["index"]) for part in parts]
    made = [_column(field, [part.get(field.name) for part in parts], counts) for field in schema]
    fields = [
        pa.field(field.name, each.type, nullable=each.null_count > 0)
        for field, each in zip(schema, made, strict=True)
    ]
    return pa.table(made, schema=pa.schema(fields))


def _column(field: pa.Field, entries: Sequence[Any], counts: Sequence[int]) -> pa.Array:
    if all(entry is None for entry in entries):
        return pa.nulls(sum(counts), field.type)
    if all(isinstance(entry, str) for entry in entries):
        words = list(dict.fromkeys(entries))
        codes = np.array([words.index(entry) for entry in entries], np.int32)
        return pa.DictionaryArray.from_arrays(np.repeat(codes, counts), pa.array(words, field.type))
    if all(isinstance(entry, np.ndarray) for entry in entries):
        return pa.array(np.concatenate(entries), field.type, from_pandas=True)
    return pa.concat_arrays([_piece(field, *piece) for piece in zip(entries, counts, strict=True)])


def _piece(field: pa.Field, entry: Any, count: int) -> pa.Array:
    if entry is None:
        return pa.nulls(count, field.type)
    if isinstance(entry, list | np.ndarray):
        return pa.array(entry, field.type, from_pandas=True)
    return pa.repeat(pa.scalar(entry, field.type), count)
