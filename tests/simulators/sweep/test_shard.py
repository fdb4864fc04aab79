"""Shards are what a Parquet writer makes of the same table, whichever way they are made."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from draftproof.simulators.sweep import shard
from draftproof.simulators.sweep.columns import columns
from draftproof.simulators.sweep.configuration import parsed
from draftproof.simulators.sweep.plan import METRICS, plan
from draftproof.simulators.sweep.shard import encoded

SCHEMA = pa.schema(
    [
        ("index", pa.int64()),
        ("word", pa.string()),
        ("size", pa.int32()),
        ("sure", pa.bool_()),
        ("seed", pa.int64()),
        ("value", pa.float64()),
        ("share", pa.float64()),
        ("note", pa.string()),
    ]
)

FIXED = st.fixed_dictionaries(
    {
        "word": st.sampled_from(["token", "block", ""]) | st.none(),
        "size": st.integers(1, 3),
        "sure": st.booleans() | st.none(),
        "seed": st.integers(0, 2) | st.none(),
    }
)


@st.composite
def parts(draw) -> list[dict]:
    """Parts of a few rows; values, shares that may be unknown, notes of a part or of each row."""
    made = []
    for _ in range(draw(st.integers(1, 4))):
        count = draw(st.integers(1, 5))
        row = lambda values, count=count: st.lists(values, min_size=count, max_size=count)  # noqa: E731
        made.append(
            {
                **draw(FIXED),
                "index": np.arange(count) + draw(st.integers(0, 2**40)),
                "value": np.array(draw(row(st.floats(0, 1)))),
                "share": np.array(draw(row(st.floats(0, 1) | st.just(np.nan)) | row(st.floats(0, 1)))),
                "note": draw(st.sampled_from(["", "lossy"]) | row(st.sampled_from(["", "lossy"]))),
            }
        )
    return made


def rows(made: list[dict]) -> list[dict]:
    """The rows that parts stand for, one by one."""
    out = []
    for part in made:
        for n in range(len(part["index"])):
            row = {
                key: value[n] if isinstance(value, list | np.ndarray) else value
                for key, value in part.items()
            }
            row["share"] = None if np.isnan(row["share"]) else row["share"]
            out.append({name: row[name] for name in SCHEMA.names})
    return out


def read(file) -> pa.Table:
    return parquet.ParquetFile(pa.BufferReader(b"".join(file))).read()


@given(parts(), st.randoms(use_true_random=False))
def test_every_row_comes_back_also_where_only_numbers_differ(made, chance):
    other = [
        part | {"index": part["index"] + 7, "value": np.array([chance.random() for _ in part["value"]])}
        for part in made
    ]
    for each in (made, other, made):
        found = read(encoded(columns(SCHEMA, each)))
        assert found.schema.names == SCHEMA.names
        assert found.cast(SCHEMA).to_pylist() == rows(each)


def test_a_filled_form_is_byte_for_byte_what_the_writer_makes():
    given = {"metrics": ["check"], "engine": "float", "rows": {"kind": "dirichlet", "count": 20_000}}
    job = plan(parsed({**given, "vocabularies": [3], "verifiers": ["token", "nss"]}, METRICS), METRICS)[0].job
    table = job()
    assert table.num_rows == 40_000  # more than a page of the writer's own choosing
    filled = encoded(table)
    assert max(map(len, filled)) < table.num_rows
    known = [each for name in table.column_names if (each := shard._column(name, table[name]))]
    assert len(known) == table.num_columns
    plain = {
        each.name: table[each.name].combine_chunks() if each.blank else shard._repeated(each)
        for each in known
    }
    assert b"".join(filled) == shard._written(plain, shard._blanks(known)).to_pybytes()


@pytest.mark.parametrize("kind", [pa.string(), pa.int64(), pa.float64(), pa.bool_()])
def test_a_column_of_nulls(kind):
    table = columns(pa.schema([("index", pa.int64()), ("x", kind)]), [{"index": np.arange(3)}])
    assert read(encoded(table)).column("x").to_pylist() == [None] * 3
