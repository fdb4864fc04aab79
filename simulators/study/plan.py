"""The work of a sweep as numbered chunks, and the columns of their rows."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from flint import fmpq
from pyarrow import parquet

from draftproof.simulators.instances.grids import Grid
from draftproof.simulators.laws.check import STEPS, at_once, chunk
from draftproof.simulators.laws.enumerate import Invalid
from draftproof.simulators.laws.exact_lanes.lanes import decide
from draftproof.simulators.laws.optimum import best_full, best_stateless
from draftproof.simulators.laws.repeat import must_have_a_law, of_the_project
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.study.configuration import Entry, Family
from draftproof.simulators.study.gap import expected, ratio, remark
from draftproof.simulators.user_code import named
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance, draft_document
from draftproof.theory.numbers import ZERO, text
from draftproof.theory.shared.reportable import spelled
from draftproof.theory.transport.bounds import Optimum
from draftproof.theory.verifier import Verifier

Values = dict[str, Any]
"""Column name -> its entry in one row; null if left out."""

Columns = tuple[tuple[str, pa.DataType], ...]

FAMILY: Columns = (
    *(("draft", pa.string()), ("kind", pa.string()), ("depth", pa.int32()), ("vocab", pa.int32())),
    *(("rows", pa.string()), ("seed", pa.int64()), ("temperature", pa.float64())),
)
ABOUT: Columns = (("verifier", pa.string()), *FAMILY, ("index", pa.int64()), ("declared", pa.bool_()))
"""The columns that all metrics have."""


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


def verdicts(instance: Instance, rules: Sequence[Verifier], _: bool) -> Iterator[Values]:
    """The exact verdict on each verifier."""
    for rule in rules:
        found = judge(instance, rule)
        must_have_a_law(rule, found.invalid)
        wrong = found.wrong and {
            "witness_prefix": spelled(found.wrong.prefix),
            "witness_got": text(found.wrong.got),
            "witness_want": text(found.wrong.want),
        }
        yield {
            "lossless": found.lossless,
            **exactly("total_variation", found.total_variation),
            **exactly("expected_accepted", found.expected_accepted),
            **(wrong or {}),
        }


def gaps(instance: Instance, rules: Sequence[Verifier], optima: bool) -> Iterator[Values]:
    """E[tau] of each verifier, with `optima` compared with the optima; null where an instance is too large
    for a solver, or a rule has no law, which `check` explains.
    """
    full: fmpq | None = None
    best: Optimum | None = None
    if optima:
        with suppress(BadInput):
            full = best_full(instance)
        with suppress(BadInput):
            best = best_stateless(instance)
    known = exactly("full_information", full)
    if best is not None:
        known |= {"stateless": best.value, "stateless_lower": text(best.lower)}
        known |= {"stateless_upper": text(best.upper)}
        known |= exactly("stateless", best.upper) if best.lower == best.upper else {}
    for rule in rules:
        mean = None
        try:
            mean = expected(instance, rule)
        except Invalid as error:
            must_have_a_law(rule, str(error))
        above = ZERO if mean is None or best is None else mean - best.upper
        yield {
            **exactly("expected_accepted", mean),
            **known,
            "share_stateless": None if mean is None or best is None else ratio(mean, best.upper),
            "share_full": None if mean is None or full is None else ratio(mean, full),
            "note": remark(rule, above),
        }


FOUND: dict[str, Callable[[Instance, Sequence[Verifier], bool], Iterator[Values]]] = {
    "check": verdicts,
    "gap": gaps,
}
"""Metric -> what is found of an instance for each verifier, and with the optima if these are computed."""

VERDICT: Columns = (
    *(("lossless", pa.bool_()), *number("total_variation"), *number("expected_accepted")),
    *((f"witness_{part}", pa.string()) for part in ("prefix", "got", "want")),
)
GAP: Columns = (
    *(*number("expected_accepted"), *number("full_information"), *number("stateless")),
    *(("stateless_lower", pa.string()), ("stateless_upper", pa.string())),
    *(("share_stateless", pa.float64()), ("share_full", pa.float64()), ("note", pa.string())),
)
SCHEMAS = {"check": pa.schema([*ABOUT, *VERDICT]), "gap": pa.schema([*ABOUT, *GAP])}
"""Metric -> its columns."""

LARGER = {"check": 1, "gap": 4}
"""Metric -> what multiplies the instances of a chunk: E[tau] costs less than a law."""

LANES = 1024
"""Least size of a grid whose verdicts are found in exact lanes, and most lanes of a chunk."""


def in_lanes(grid: Any, indices: range, rule: Verifier) -> list[Values | None]:
    """What `verdicts` finds of one verifier on many instances; None where lanes do not tell."""
    found = decide(grid.lanes(indices.start, indices.stop), rule)
    sure = found.lossless & ~found.undecided & (found.accepted[1] > 0)
    means = (
        fmpq(*map(int, each)) if told else None for each, told in zip(found.accepted.T, sure, strict=True)
    )
    always = {"lossless": True, **exactly("total_variation", ZERO)}
    return [None if mean is None else always | exactly("expected_accepted", mean) for mean in means]


@dataclass(frozen=True)
class Slice:
    """A job, cheap to pickle: what a metric finds of some verifiers, by name, on some instances of a family,
    one by one or, first, in lanes.
    """

    metric: str
    family: Family
    indices: range
    verifiers: tuple[str, ...]
    optima: bool
    lanes: bool = False

    @property
    def evaluations(self) -> int:
        return len(self.indices) * len(self.verifiers)

    def __call__(self) -> pa.Table:
        where, given = place(self.family), self.family.instances
        rules = [named(name) for name in self.verifiers]
        unknown: list[Values | None] = [None] * len(self.indices)
        told = [in_lanes(given, self.indices, rule) if self.lanes else unknown for rule in rules]
        rows = list[Values]()
        for index, *known in zip(self.indices, *told, strict=True):
            left = [rule for rule, found in zip(rules, known, strict=True) if found is None]
            others = iter(FOUND[self.metric](given[index], left, self.optima) if left else ())
            for rule, found in zip(rules, known, strict=True):
                about = where | {"verifier": rule.name, "declared": rule.lossless, "index": index}
                rows.append(about | (next(others) if found is None else found))
        return pa.Table.from_pylist(rows, SCHEMAS[self.metric])


def plan(entries: Iterable[Entry]) -> dict[str, Slice]:
    """Every chunk of a configuration, in order: the name of its shard -> its job. Chunks are large enough for
    a file each and small enough to take a few seconds. BadInput if its families cannot be made.
    """
    out: dict[str, Slice] = {}
    for entry in entries:
        for metric in entry.metrics:
            for family in entry.families():
                count, drafts = len(family.instances), family.draft.outcomes(family.vocab)
                grid = metric == "check" and isinstance(family.instances, Grid) and count >= LANES
                groups: dict[tuple[int, bool], list[str]] = {}
                for rule in entry.fitting(family.draft):
                    lanes = grid and family.draft.label in STEPS and not rule.ordered and of_the_project(rule)
                    step = min(at_once(rule, drafts), LANES) if lanes else LARGER[metric] * chunk(drafts)
                    groups.setdefault((step, lanes), []).append(rule.name)
                for (step, lanes), names in groups.items():
                    for start in range(0, count, step):
                        indices = range(start, min(start + step, count))
                        job = Slice(metric, family, indices, tuple(names), entry.optima, lanes)
                        out[f"{metric}-{len(out):06d}"] = job
    return out


def computed(chunk: tuple[str, Slice]) -> tuple[str, bytes]:
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
    out = pa.BufferOutputStream(pa.system_memory_pool())  # reuses its memory from chunk to chunk
    parquet.write_table(table, out, compression="lz4", write_statistics=False, store_schema=False)
    return out.getvalue().to_pybytes()
