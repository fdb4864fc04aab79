"""The work of a sweep as numbered chunks, and the columns of their rows."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, Protocol

import pyarrow as pa
from flint import fmpq
from pyarrow import parquet

from draftproof.simulators.instances.files import draft_document, spelled
from draftproof.simulators.laws.check import chunk
from draftproof.simulators.laws.verdict import Wrong
from draftproof.simulators.study.configuration import Entry
from draftproof.simulators.study.families import Family
from draftproof.simulators.user_code import named
from draftproof.theory.drafts import Scheme
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import text
from draftproof.theory.verifier import Verifier

METRICS = {name: f"draftproof.simulators.study.metrics:{name.upper()}" for name in ("check", "gap")}
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
    out = pa.BufferOutputStream()
    parquet.write_table(table, out, compression="LZ4", write_statistics=False, store_schema=False)
    return out.getvalue().to_pybytes()


Values = dict[str, Any]
"""Column name -> its entry in one row; a column that is left out is null."""

Columns = tuple[tuple[str, pa.DataType], ...]

SIZE: Columns = (("draft", pa.string()), ("kind", pa.string()), ("depth", pa.int32()), ("vocab", pa.int32()))
FAMILY: Columns = (*SIZE, ("rows", pa.string()), ("seed", pa.int64()), ("temperature", pa.float64()))
WITNESS: Columns = tuple((f"witness_{part}", pa.string()) for part in ("prefix", "got", "want"))


def number(name: str) -> Columns:
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
        return {}
    return {name: int(value.p) / int(value.q), f"{name}_exact": text(value)}


def witness(wrong: Wrong | None) -> Values:
    """The columns WITNESS."""
    if wrong is None:
        return {}
    found = spelled(wrong.prefix), text(wrong.got), text(wrong.want)
    return {name: value for (name, _), value in zip(WITNESS, found, strict=True)}


Found = Callable[[Instance, Sequence[Verifier], bool], Iterable[Values]]
"""(instance, verifiers, whether optima are computed) -> what a metric finds, a row for each verifier."""


@dataclass(frozen=True)
class Slice:
    """A job: what a metric finds of some verifiers, by name, on some instances of a family."""

    found: Found
    schema: pa.Schema
    family: Family
    indices: range
    verifiers: tuple[str, ...]
    optima: bool

    @property
    def evaluations(self) -> int:
        return len(self.indices) * len(self.verifiers)

    def __call__(self) -> pa.Table:
        where, rules = place(self.family), [named(name) for name in self.verifiers]
        rows = [
            {"verifier": rule.name, "declared": rule.lossless, **where, "index": index, **found}
            for index in self.indices
            for rule, found in zip(
                rules, self.found(self.family.instances[index], rules, self.optima), strict=True
            )
        ]
        return pa.Table.from_pylist(rows, self.schema)


def on_instances(name: str, columns: Columns, found: Found, larger: int = 1) -> Metric:
    """A metric of verifiers on instances. Every family is taken in order, in slices large enough for a file
    each and small enough to take a few seconds; `larger` multiplies their number of instances.
    """
    about = ("verifier", pa.string()), *FAMILY, ("index", pa.int64()), ("declared", pa.bool_())
    schema = pa.schema([*about, *columns])

    def jobs(entry: Entry) -> Iterator[Slice]:
        for family in entry.families():
            names = tuple(each.name for each in entry.suited(family))
            count, step = len(family.instances), larger * chunk(family.draft.outcomes(family.vocab))
            for start in range(0, count if names else 0, step):
                indices = range(start, min(start + step, count))
                yield Slice(found, schema, family, indices, names, entry.optima)

    return Metric(name, schema, jobs)
