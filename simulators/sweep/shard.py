"""A table as the bytes of a Parquet file, the same ones every time.

What lanes compute is words that stay the same over thousands of rows, around a few columns of
numbers. Parquet keeps a plain column of numbers as it lies in memory, so two shards with the same
words in the same rows differ in these numbers and in nothing else. Such a file is made once, as a
form, and the next shard is the form with other numbers in its blanks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import parquet

Part: TypeAlias = bytes | pa.Buffer | memoryview

PAGE = 2**30
"""Bytes that a page may have: every column of a shard is one page."""


@dataclass(frozen=True)
class Column:
    """A column as a form knows it: runs of one value that end after so many rows, or a blank for numbers."""

    name: str
    type: pa.DataType
    ends: tuple[int, ...] = ()
    values: tuple[object, ...] = ()

    @property
    def blank(self) -> bool:
        return not self.ends


def encoded(table: pa.Table) -> list[Part]:
    """The file in parts, to be written one after the other. Columns may be run-end encoded.

    >>> table = pa.table({"x": [0.5, 0.25]})
    >>> parquet.read_table(pa.BufferReader(b"".join(encoded(table)))).column("x").to_pylist()
    [0.5, 0.25]
    """
    columns = [_column(name, table[name]) for name in table.column_names]
    known = tuple(column for column in columns if column)
    if len(known) < len(columns):
        arrays = [
            _repeated(column) if column and not column.blank else chunks.combine_chunks()
            for column, chunks in zip(columns, table.columns, strict=True)
        ]
        floats = [column.name for column in known if column.blank and pa.types.is_floating(column.type)]
        return [_written(dict(zip(table.column_names, arrays, strict=True)), floats)]
    first, *rest = _form(known, table.num_rows)
    parts: list[Part] = [first]
    for name, after in zip(_blanks(known), rest, strict=True):
        parts += [memoryview(chunk.to_numpy()) for chunk in table[name].chunks]
        parts.append(after)
    return parts


@lru_cache(maxsize=4)
def _form(columns: Sequence[Column], rows: int) -> list[bytes]:
    # What stands before, between and after the blanks.
    zeros = {column.name: pa.array(np.zeros(rows), column.type) for column in columns if column.blank}
    arrays = {each.name: zeros[each.name] if each.blank else _repeated(each) for each in columns}
    whole = _written(arrays, list(zeros))
    about = parquet.read_metadata(pa.BufferReader(whole)).row_group(0)
    pieces, at = [], 0
    for number, column in enumerate(columns):
        if column.blank:
            chunk = about.column(number)
            end = chunk.data_page_offset + chunk.total_compressed_size
            pieces.append(whole[at : end - zeros[column.name].nbytes].to_pybytes())
            at = end
    return [*pieces, whole[at:].to_pybytes()]


def _written(arrays: Mapping[str, pa.Array], numbers: Sequence[str]) -> pa.Buffer:
    # Words are dictionaries; numbers of lanes hardly compress, so none of them are.
    fields = [pa.field(name, each.type, nullable=each.null_count > 0) for name, each in arrays.items()]
    words = [
        name
        for name, each in arrays.items()
        if pa.types.is_dictionary(each.type) or pa.types.is_string(each.type)
    ]
    packed = {name: "NONE" if name in numbers else "LZ4" for name in arrays}
    out = pa.BufferOutputStream(pa.system_memory_pool())  # which keeps its pages from chunk to chunk
    parquet.write_table(
        pa.table(list(arrays.values()), schema=pa.schema(fields)),
        out,
        compression=packed,  # pyright: ignore[reportArgumentType]
        use_dictionary=words,  # pyright: ignore[reportArgumentType]
        data_page_size=PAGE,
        max_rows_per_page=PAGE,
        column_encoding={
            name: "DELTA_BINARY_PACKED" for name in arrays if name == "index" and packed[name] != "NONE"
        },
        write_batch_size=2**17,
        write_statistics=False,
        store_schema=False,
    )
    return out.getvalue()


def _column(name: str, column: pa.ChunkedArray) -> Column | None:
    # None for words and nulls row by row.
    if pa.types.is_run_end_encoded(column.type):
        (runs,) = column.chunks
        return Column(
            name, runs.type.value_type, tuple(runs.run_ends.to_pylist()), tuple(runs.values.to_pylist())
        )
    plain = column.type in (pa.float64(), pa.int64()) and column.null_count == 0
    return Column(name, column.type) if plain else None


def _blanks(columns: Sequence[Column]) -> list[str]:
    return [column.name for column in columns if column.blank]


def _repeated(column: Column) -> pa.Array:
    lengths = np.diff(column.ends, prepend=0)
    if pa.types.is_string(column.type) and None not in column.values:
        words = list(dict.fromkeys(column.values))
        codes = np.array([words.index(each) for each in column.values], np.int32)
        return pa.DictionaryArray.from_arrays(np.repeat(codes, lengths), pa.array(words, column.type))
    if len(column.values) == 1:
        return pa.repeat(pa.scalar(column.values[0], column.type), column.ends[-1])
    return pa.array(np.repeat(np.asarray(column.values), lengths), column.type)
