"""The columns that shards share, and how numbers become columns."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from flint import fmpq

from draftproof.simulators.instances.files import draft_document, spelled
from draftproof.simulators.study.families import Family
from draftproof.simulators.verdict import Wrong
from draftproof.theory.drafts import Scheme
from draftproof.theory.numbers import text

Values = dict[str, Any]
"""Column name -> one entry a row, as an array or a list, or one value for all rows."""

SIZE = (("draft", pa.string()), ("kind", pa.string()), ("depth", pa.int32()), ("vocab", pa.int32()))
FAMILY = (*SIZE, ("rows", pa.string()), ("seed", pa.int64()), ("temperature", pa.float64()))
PLACE = (*FAMILY, ("index", pa.int64()))
WITNESS = tuple((f"witness_{part}", pa.string()) for part in ("prefix", "got", "want"))


def schema(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    """The columns of a metric."""
    return pa.schema(list(columns))


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


def table(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """A table from rows one by one."""
    return pa.Table.from_pylist(list(rows), schema=schema)


def columns(schema: pa.Schema, parts: Iterable[Values]) -> pa.Table:
    """A table from parts, one below the other; NaN is null. Each part has an array `index`.

    Columns of words are dictionaries, so that a word which stays the same costs little by the row.
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
