"""E[tau] compared with the optima of every instance.

On a chain the optima have closed forms: the full-information one is the sum over prefixes of
min(p, q), the stateless one is block verification's E[tau], which no valid single-path verifier
exceeds (sun2025block). On one level both are that of single-step transport, by the subset formula
(hu2025towards). Elsewhere both are solved and certified, one instance at a time.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
from flint import fmpq

from draftproof.simulators.laws import lanes
from draftproof.simulators.laws.enumerate import Invalid
from draftproof.simulators.laws.optimum import SETS, full_information, one_level, stateless
from draftproof.simulators.laws.repeat import must_have_a_law
from draftproof.simulators.study.configuration import Entry
from draftproof.simulators.study.families import Slice, Sliced, in_step, slices
from draftproof.simulators.study.gap import exceeds, expected, ratio, remark
from draftproof.simulators.study.plan import PLACE, Metric, Values, columns, exactly, number, place
from draftproof.simulators.user_code import named
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import exact, text
from draftproof.theory.transport.block import chain_optimum
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS
from draftproof.theory.verifiers.block import VERIFIER as BLOCK

SCHEMA = pa.schema(
    [
        ("verifier", pa.string()),
        *PLACE,
        ("engine", pa.string()),
        ("declared", pa.bool_()),
        *number("expected_accepted"),
        *number("full_information"),
        *number("stateless"),
        ("stateless_lower", pa.string()),
        ("stateless_upper", pa.string()),
        ("share_stateless", pa.float64()),
        ("share_full", pa.float64()),
        ("note", pa.string()),
    ]
)

ROUNDING = 1e-9
"""How far a float may exceed an optimum by rounding; values from lanes are accurate to about 1e-14."""


@dataclass(frozen=True)
class Gap(Sliced):
    """E[tau] and optima of some instances; in floats if lanes can compute them."""

    floats: bool
    optima: bool

    def __call__(self) -> pa.Table:
        return columns(SCHEMA, (part for block in self.part.blocks() for part in self._parts(block)))

    def _parts(self, block: Slice) -> Iterator[Values]:
        instances = cache(block.instances)
        many = block.lanes() if self.floats else None
        best: Values = {}
        if many and self.optima and block.family.draft.label == "chain":
            stateless = lanes.measure(many, BLOCK).expected_accepted
            full = chain_optimum(many.target, many.proposal, many.draft.depth)
            best = {"full_information": full, "stateless": stateless}
        elif self.optima:
            best = _transposed([_solved(instance) for instance in instances()])
        where = {**place(block.family), "index": np.arange(block.start, block.stop)}
        for name in block.verifiers:
            rule, found = named(name), dict(best)
            twin = in_lanes(name, block.family.draft.label) if many else None
            if many and twin:
                found["expected_accepted"] = lanes.measure(many, VERIFIERS[twin]).expected_accepted
            else:
                means = [exactly("expected_accepted", _mean(each, rule)) for each in instances()]
                found |= _transposed(means)
            about = {"verifier": name, "engine": "float" if twin else "exact", "declared": rule.lossless}
            yield {**about, **where, **found, **_compared(rule, found)}


@cache
def in_lanes(name: str, label: str) -> str | None:
    """The verifier that lanes run for `name` on a kind of draft: itself, or one of the same E[tau]."""
    rule = named(name)
    twins = [each for each in VERIFIERS.values() if (form := rule.form(label)) and each.form(label) is form]
    return next((each.name for each in (rule, *twins) if in_step(each)), None)


def _solved(instance: Instance) -> Values:
    # Nulls if the instance is too large for a solver.
    if instance.draft.depth == 1 and instance.vocab <= SETS:
        best = one_level(instance)
        bounds = dict.fromkeys(("stateless_lower", "stateless_upper"), text(best))
        return {**exactly("full_information", best), **exactly("stateless", best), **bounds}
    found: Values = {**exactly("full_information", None), **exactly("stateless", None)}
    found |= {"stateless_lower": None, "stateless_upper": None}
    with suppress(BadInput):
        found |= exactly("full_information", full_information(instance).value)
    with suppress(BadInput):
        valid = stateless(instance)
        found |= {"stateless_lower": text(valid.lower), "stateless_upper": text(valid.upper)}
        found["stateless"] = valid.value
        if valid.lower == valid.upper:
            found |= exactly("stateless", valid.upper)
    return found


def _mean(instance: Instance, rule: Verifier) -> fmpq | None:
    # None for a rule that has no law, which `check` explains.
    try:
        return expected(instance, rule)
    except Invalid as error:
        must_have_a_law(rule, str(error))
        return None


def _compared(rule: Verifier, found: Values) -> Values:
    # Ratios and notes, decided in rationals if both numbers are rational.
    mean = np.asarray(found["expected_accepted"], float)
    unknown = np.full(len(mean), np.nan)
    full, best = (np.asarray(found.get(key, unknown), float) for key in ("full_information", "stateless"))
    ratios, above = _ratios(mean, best), mean > best + ROUNDING
    means, uppers = found.get("expected_accepted_exact", ()), found.get("stateless_upper", ())
    for i, (value, upper) in enumerate(zip(means, uppers, strict=False)):
        if upper is not None and value is not None:
            ratios[i] = ratio(exact(value), exact(upper))
            above[i] = exceeds(rule, exact(value), exact(upper))
    note, lossy = (remark(rule, each) for each in (False, True))
    notes = [lossy if each else note for each in above] if above.any() else note
    return {"share_stateless": ratios, "share_full": _ratios(mean, full), "note": notes}


def _ratios(mean: np.ndarray, best: np.ndarray) -> np.ndarray:
    # NaN if the optimum is unknown, 1 if it is 0.
    return np.where(best > 0, mean / np.where(best > 0, best, 1), np.where(np.isnan(best), np.nan, 1.0))


def _transposed(rows: Sequence[Values]) -> Values:
    return {key: [row[key] for row in rows] for key in rows[0]}


def jobs(entry: Entry) -> Iterator[Gap]:
    """Every family of an entry; if optima must be solved for, all verifiers share one slice."""
    floats = entry.engine == "float"
    for family in entry.families():
        label, fit = family.draft.label, entry.suited(family)
        solves = entry.optima and not (floats and label == "chain")
        wide = [each for each in fit if floats and not solves and in_lanes(each.name, label)]
        rest = [each for each in fit if each not in wide]
        # E[tau] costs less than a law, so a chunk has more instances than one of `check`.
        parts = [*slices(family, wide, wide=True), *slices(family, rest, wide=False, larger=4)]
        yield from (Gap(part, floats, entry.optima) for part in parts)


GAP = Metric("gap", SCHEMA, jobs)
