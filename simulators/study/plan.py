"""The work of a sweep as numbered chunks, and the columns of their rows."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pyarrow as pa
from flint import fmpq
from pyarrow import parquet

from draftproof.simulators.laws.check import chunk
from draftproof.simulators.laws.lanes import in_step
from draftproof.simulators.laws.verdict import Wrong
from draftproof.simulators.study.configuration import Entry, Family
from draftproof.simulators.user_code import named
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import draft_document
from draftproof.theory.numbers import text
from draftproof.theory.shared.reportable import spelled
from draftproof.theory.verifier import Verifier


def plan(entries: Iterable[Entry]) -> dict[str, "Slice"]:
    """Every chunk of a configuration, in order: the name of its shard -> its job. BadInput if its families
    cannot be made.
    """
    out: dict[str, Slice] = {}
    for entry in entries:
        for name in entry.metrics:
            jobs: Jobs = resolve_name(f"draftproof.simulators.study.metrics:{name.upper()}")
            out |= {f"{name}-{n:06d}": job for n, job in enumerate(jobs(entry), len(out))}
    return out


def computed(chunk: tuple[str, "Slice"]) -> tuple[str, bytes]:
    """(name, Parquet file) of a chunk. Any error becomes BadInput that names the chunk."""
    name, job = chunk
    try:
        return name, encoded(job())
    except BadInput as error:
        raise BadInput(f"chunk {name}: {error}") from None
    except Exception as error:
        raise BadInput(f"chunk {name}: {type(error).__name__}: {error}") from error


def encoded(table: pa.Table) -> bytes:
    """The bytes of a Parquet file, the same for the same table."""
    # Floats hardly compress.
    numbers = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    packed: Any = {name: "NONE" if name in numbers else "LZ4" for name in table.column_names}
    words: Any = [name for name in table.column_names if name not in numbers and name != "index"]
    out = pa.BufferOutputStream(pa.system_memory_pool())  # reuses its memory from chunk to chunk
    options: Any = {"write_statistics": False, "store_schema": False, "use_dictionary": words}
    parquet.write_table(table, out, compression=packed, **options)
    return out.getvalue().to_pybytes()


Values = dict[str, Any]
"""Column name -> its entry: of one row, or in lanes an array or one value for all; null if left out."""

Columns = tuple[tuple[str, pa.DataType], ...]

FAMILY: Columns = (
    *(("draft", pa.string()), ("kind", pa.string()), ("depth", pa.int32()), ("vocab", pa.int32())),
    *(("rows", pa.string()), ("seed", pa.int64()), ("temperature", pa.float64())),
)
WITNESS: Columns = tuple((f"witness_{part}", pa.string()) for part in ("prefix", "got", "want"))


def number(name: str) -> Columns:
    """The two columns of a number that may be exact."""
    return (name, pa.float64()), (f"{name}_exact", pa.string())


def place(family: Family) -> Values:
    """The columns FAMILY."""
    draft = family.draft
    size = json.dumps(draft_document(draft)), draft.label, draft.depth, family.vocab
    values = *size, family.rows, family.seed, family.temperature
    return {name: value for (name, _), value in zip(FAMILY, values, strict=True)}


def exactly(name: str, value: fmpq | None) -> Values:
    """Both columns of an exact number."""
    if value is None:
        return {}
    return {name: int(value.p) / int(value.q), f"{name}_exact": text(value)}


def witness(wrong: Wrong | None) -> Values:
    """The columns WITNESS."""
    if wrong is None:
        return {}
    found = spelled(wrong.prefix), text(wrong.got), text(wrong.want)
    return {name: value for (name, _), value in zip(WITNESS, found, strict=True)}


Found = Callable[[Any, Sequence[Verifier], bool], Iterable[Values]]
"""(instance or lanes, verifiers, whether optima are computed) -> what a metric finds, for each verifier."""


@dataclass(frozen=True)
class Slice:
    """A job, cheap to pickle: what a metric finds of some verifiers, by name, on some instances of a family,
    one by one or, if the engine is "float", as lanes; then it begins at a block of the family.
    """

    found: Found
    schema: pa.Schema
    family: Family
    indices: range
    verifiers: tuple[str, ...]
    optima: bool
    engine: str

    @property
    def evaluations(self) -> int:
        return len(self.indices) * len(self.verifiers)

    def __call__(self) -> pa.Table:
        if self.engine == "exact":
            of = self.family.instances
            rows = [row for index in self.indices for row in self._rows(index, of[index])]
            return pa.Table.from_pylist(rows, self.schema)
        tables = []
        for at in self.indices[:: self.family.block]:
            index = np.arange(at, min(at + self.family.block, self.indices.stop))
            for row in self._rows(index, self.family.lanes(at, at + len(index))):
                arrays = [_column(field.type, row.get(field.name), len(index)) for field in self.schema]
                tables.append(pa.Table.from_arrays(arrays, self.schema.names))
        return pa.concat_tables(tables).unify_dictionaries()

    def _rows(self, index: Any, given: Any) -> Iterator[Values]:
        rules, where = [named(name) for name in self.verifiers], place(self.family)
        for rule, found in zip(rules, self.found(given, rules, self.optima), strict=True):
            about = {"verifier": rule.name, "declared": rule.lossless, "engine": self.engine, "index": index}
            yield where | about | found


Jobs = Callable[[Entry], Iterator[Slice]]
"""A metric: it cuts an entry of the configuration into jobs."""


def _column(kind: pa.DataType, entry: Any, count: int) -> pa.Array:
    # Words are dictionary-encoded, so that a repeated word costs little.
    words = pa.types.is_string(kind)
    if isinstance(entry, np.ndarray):
        return pa.array(entry, kind, from_pandas=True)
    if entry is None:
        return pa.nulls(count, pa.dictionary(pa.int32(), kind) if words else kind)
    if words:
        return pa.DictionaryArray.from_arrays(np.zeros(count, np.int32), pa.array([entry], kind))
    return pa.repeat(pa.scalar(entry, kind), count)


def on_instances(
    columns: Columns,
    found: Found,
    in_lanes: Found,
    wide: Callable[[Entry, Family], bool] = lambda entry, family: True,
    larger: int = 1,
) -> Jobs:
    """A metric of verifiers on instances, or in floats on lanes where they can be used: for rules that run in
    step, on families that are `wide`. Every family is taken in order, in slices large enough for a file each
    and small enough to take a few seconds; `larger` multiplies the number of instances of those not in lanes.
    """
    about = ("verifier", pa.string()), *FAMILY, ("index", pa.int64())
    schema = pa.schema([*about, ("engine", pa.string()), ("declared", pa.bool_()), *columns])

    def jobs(entry: Entry) -> Iterator[Slice]:
        for family in entry.families():
            fit, drafts = entry.fitting(family.draft), family.draft.outcomes(family.vocab)
            many = [each for each in fit if entry.engine == "float" and in_step(each) and wide(entry, family)]
            rest = [each for each in fit if each not in many]
            each_file = family.block * max(1, 4_000_000 // (drafts * max(len(many), 1) * family.block))
            parts = (in_lanes, many, "float", each_file), (found, rest, "exact", larger * chunk(drafts))
            for compute, rules, engine, step in parts:
                names, count = tuple(rule.name for rule in rules), len(family.instances)
                for start in range(0, count if names else 0, step):
                    indices = range(start, min(start + step, count))
                    yield Slice(compute, schema, family, indices, names, entry.optima, engine)

    return jobs
