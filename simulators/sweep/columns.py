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
"""Column name -> one entry a row, as an array or a list."""

SIZE = (("draft", pa.string()), ("kind", pa.string()), ("depth", pa.int32()), ("vocab", pa.int32()))
PLACE = (
    *SIZE,
    ("rows", pa.string()),
    ("seed", pa.int64()),
    ("temperature", pa.float64()),
    ("index", pa.int64()),
)
NEVER_NULL = frozenset(
    ["verifier", "target", "draft", "kind", "depth", "vocab", "rows", "index", "engine", "declared", "note"]
)
"""Columns that every row has, of all metrics that have them."""

WITNESS = tuple((f"witness_{part}", pa.string()) for part in ("prefix", "got", "want"))


def schema(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    """The columns of a metric."""
    return pa.schema([pa.field(name, kind, nullable=name not in NEVER_NULL) for name, kind in columns])


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


def columns(schema: pa.Schema, constant: Mapping[str, Any], varying: Values) -> pa.Table:
    """A table from arrays (NaN is null); one value stands for itself in every row, none for null.

    Constant columns are dictionaries of one entry, which Parquet writes in no time.
    """
    count = len(next(iter(varying.values())))
    zeros = pa.array(np.zeros(count, np.int32))

    def column(field: pa.Field) -> pa.Array:
        if field.name in varying:
            return pa.array(varying[field.name], field.type, from_pandas=True)
        value = constant.get(field.name)
        if value is None:
            return pa.nulls(count, field.type)
        return pa.DictionaryArray.from_arrays(zeros, pa.array([value], field.type))

    made = [column(field) for field in schema]
    fields = [field.with_type(each.type) for field, each in zip(schema, made, strict=True)]
    return pa.table(made, schema=pa.schema(fields))
