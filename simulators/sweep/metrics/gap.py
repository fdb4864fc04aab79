"""E[tau] beside the optima of every instance.

On a chain the optima have closed forms: the full-information one is the sum over prefixes of
min(p, q), the stateless one is block verification's E[tau], which no valid single-path verifier
exceeds (sun2025block). On one level both are that of single-step transport, by the subset formula
(hu2025towards). Elsewhere both are solved and certified, one instance at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from draftproof.simulators import lanes
from draftproof.simulators.gap.measure import expected, ratio, remark
from draftproof.simulators.lanes import Lanes
from draftproof.simulators.optimum import SETS, full_information, one_level, stateless
from draftproof.simulators.sweep.columns import PLACE, Values, columns, exactly, number, place, schema
from draftproof.simulators.sweep.configuration import Entry
from draftproof.simulators.sweep.cut import Slice, Sliced, fitting, in_step, slices
from draftproof.simulators.sweep.families import Family, families
from draftproof.simulators.sweep.metric import Metric
from draftproof.theory.closed_forms import FORMS
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import exact, text
from draftproof.theory.verifiers import VERIFIERS, named

SCHEMA = schema(
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
)

LARGER = 4
"""How many times as many instances a chunk has as one of laws: E[tau] costs less."""

ROUNDING = 1e-9
"""How far above an optimum a float may come out by rounding; laws in lanes are good to about 1e-14."""


@dataclass(frozen=True)
class Gap(Sliced):
    """E[tau] and optima of some instances; in floats wherever lanes have a form."""

    floats: bool
    optima: bool

    def __call__(self) -> pa.Table:
        return columns(SCHEMA, [part for block in self.part.blocks() for part in self._parts(block)])

    def _parts(self, block: Slice) -> Iterator[Values]:
        instances = cache(block.instances)
        many = block.lanes() if self.floats else None
        best: Values = {}
        if self.optima:
            best = _forms(many) if many and _closed(block.family) else _solved(instances())
        where = {**place(block.family), "index": np.arange(block.start, block.stop)}
        for name in block.verifiers:
            if many and (twin := in_lanes(name, block.family.draft.label)):
                engine, means = "float", _floats(many, twin)
            else:
                engine, means = "exact", _one_by_one(instances(), name)
            said = {"verifier": name, "engine": engine, "declared": VERIFIERS[name].lossless}
            found = {**means, **best}
            yield {**said, **where, **found, **_compared(name, found)}


def _closed(family: Family) -> bool:
    return family.draft.label == "chain"


@cache
def in_lanes(name: str, label: str) -> str | None:
    """The verifier that lanes run for this one on a kind of draft: itself, or one of the same closed form.

    >>> in_lanes("block", "chain"), in_lanes("layered", "chain"), in_lanes("layered", "paths")
    ('block', 'block', None)
    """
    form = FORMS.get((name, label))
    twins = [other for other in VERIFIERS if form and FORMS.get((other, label)) is form]
    return next((other for other in (name, *twins) if in_step(VERIFIERS[other])), None)


def _floats(many: Lanes, name: str) -> Values:
    return {"expected_accepted": lanes.measure(many, VERIFIERS[name]).expected_accepted}


def _one_by_one(instances: Sequence[Instance], name: str) -> Values:
    return _columns([exactly("expected_accepted", expected(each, VERIFIERS[name])) for each in instances])


def _forms(many: Lanes) -> Values:
    return {
        "full_information": chain_optimum(many),
        "stateless": lanes.measure(many, named("block")).expected_accepted,
    }


def chain_optimum(many: Lanes) -> np.ndarray:
    """The full-information optimum of chains in lanes: the sum of min(p, q) over drafted prefixes.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> chain_optimum(lanes.stack([scenario("toy", Chain(2))])).round(6).tolist()
    [1.333333]
    """
    out = np.zeros(many.count)
    joint = {(): (np.ones(many.count), np.ones(many.count))}
    for _ in range(many.draft.depth):
        joint = {
            (*prefix, x): (P * many.target[prefix][x], Q * many.proposal[prefix][x])
            for prefix, (P, Q) in joint.items()
            for x in range(many.target.vocab)
        }
        for P, Q in joint.values():
            out += np.minimum(P, Q)
    return out


def _solved(instances: Sequence[Instance]) -> Values:
    return _columns([_optima(instance) for instance in instances])


def _optima(instance: Instance) -> dict[str, Any]:
    # Nulls where the instance is too large for a solver.
    if instance.draft.depth == 1 and instance.vocab <= SETS:
        best = one_level(instance)
        bounds = dict.fromkeys(("stateless_lower", "stateless_upper"), text(best))
        return {**exactly("full_information", best), **exactly("stateless", best), **bounds}
    try:
        full = full_information(instance).value
    except BadInput:
        full = None
    try:
        valid = stateless(instance)
    except BadInput:
        valid = None
    known = valid is not None and valid.lower == valid.upper
    return {
        **exactly("full_information", full),
        **exactly("stateless", valid.upper if valid and known else None),
        **({"stateless": valid.value} if valid and not known else {}),
        "stateless_lower": text(valid.lower) if valid and valid.lower is not None else None,
        "stateless_upper": text(valid.upper) if valid else None,
    }


def _compared(name: str, found: Values) -> Values:
    # Shares and remarks, decided in rationals wherever both numbers are.
    mean = np.asarray(found["expected_accepted"], float)
    unknown = np.full(len(mean), np.nan)
    full, best = (np.asarray(found.get(key, unknown), float) for key in ("full_information", "stateless"))
    shares, above = _shares(mean, best), mean > best + ROUNDING
    for i, (value, upper) in enumerate(
        zip(found.get("expected_accepted_exact", ()), found.get("stateless_upper", ()), strict=False)
    ):
        if upper is not None:
            shares[i], above[i] = ratio(exact(value), exact(upper)), exact(value) > exact(upper)
    note, lossy = (remark(VERIFIERS[name], each) for each in (False, True))
    notes = [lossy if each else note for each in above] if above.any() else note
    return {"share_stateless": shares, "share_full": _shares(mean, full), "note": notes}


def _shares(mean: np.ndarray, best: np.ndarray) -> np.ndarray:
    # NaN where the optimum is not known, all of it where nothing can be accepted.
    return np.where(best > 0, mean / np.where(best > 0, best, 1), np.where(np.isnan(best), np.nan, 1.0))


def _columns(rows: Sequence[dict[str, Any]]) -> Values:
    return {key: [row[key] for row in rows] for key in rows[0]}


def jobs(entry: Entry) -> Iterator[Gap]:
    """Every family of an entry; where optima must be solved, all verifiers share one slice."""
    floats = entry.engine == "float"
    for family in families(entry):
        fit = fitting(entry, family)
        solves = entry.optima and not (floats and _closed(family))
        wide = [each for each in fit if floats and not solves and in_lanes(each.name, family.draft.label)]
        rest = [each for each in fit if each not in wide]
        parts = [*slices(family, wide, wide=True), *slices(family, rest, wide=False, larger=LARGER)]
        yield from (Gap(part, floats, entry.optima) for part in parts)


GAP = Metric("gap", SCHEMA, jobs)
