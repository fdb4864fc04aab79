"""What a sweep finds of verifiers on an instance: their verdicts, and E[tau] beside the optima."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa
from flint import fmpq

from draftproof.simulators.laws import lanes
from draftproof.simulators.laws.enumerate import Invalid
from draftproof.simulators.laws.optimum import best_full, best_stateless
from draftproof.simulators.laws.repeat import must_have_a_law
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.study.gap import exceeds, expected, ratio, remark
from draftproof.simulators.study.plan import WITNESS, Values, exactly, number, on_instances, witness
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import text
from draftproof.theory.transport.block import chain_optimum
from draftproof.theory.transport.bounds import Optimum
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers.block import VERIFIER as BLOCK

ROUNDING = 1e-9
"""How far a float may exceed an optimum by rounding; values from lanes are accurate to about 1e-14."""


def verdicts(instance: Instance, rules: Sequence[Verifier], _: bool) -> Iterator[Values]:
    """The exact verdict on each verifier."""
    for rule in rules:
        found = judge(instance, rule)
        must_have_a_law(rule, found.invalid)
        yield {
            "lossless": found.lossless,
            **exactly("total_variation", found.total_variation),
            **exactly("expected_accepted", found.expected_accepted),
            **witness(found.wrong),
        }


def distances(many: lanes.Lanes, rules: Sequence[Verifier], _: bool) -> Iterator[Values]:
    """Total variation of the completed law and E[tau] of every lane."""
    return (vars(lanes.measure(many, rule)) for rule in rules)


CHECK = on_instances(
    (("lossless", pa.bool_()), *number("total_variation"), *number("expected_accepted"), *WITNESS),
    verdicts,
    distances,
)


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
        above = mean is not None and best is not None and exceeds(rule, mean, best.upper)
        yield {
            **exactly("expected_accepted", mean),
            **known,
            "share_stateless": None if mean is None or best is None else ratio(mean, best.upper),
            "share_full": None if mean is None or full is None else ratio(mean, full),
            "note": remark(rule, above),
        }


def gaps_in_lanes(many: lanes.Lanes, rules: Sequence[Verifier], optima: bool) -> Iterator[Values]:
    """E[tau] of every lane; with `optima`, which must be those of chains, compared with them."""
    known: Values = {}
    if optima:
        known["full_information"] = chain_optimum(many.target, many.proposal, many.draft.depth)
        known["stateless"] = lanes.measure(many, BLOCK).expected_accepted
    for rule in rules:
        mean = lanes.measure(many, rule).expected_accepted
        shares = {f"share_{name.split('_')[0]}": _ratios(mean, best) for name, best in known.items()}
        above = mean > known["stateless"] + ROUNDING if optima else np.full(len(mean), False)
        notes = np.where(above, remark(rule, True), remark(rule, False))
        yield {"expected_accepted": mean, **known, **shares, "note": notes}


GAP = on_instances(
    (
        *number("expected_accepted"),
        *number("full_information"),
        *number("stateless"),
        ("stateless_lower", pa.string()),
        ("stateless_upper", pa.string()),
        ("share_stateless", pa.float64()),
        ("share_full", pa.float64()),
        ("note", pa.string()),
    ),
    gaps,
    gaps_in_lanes,
    wide=lambda entry, family: family.draft.label == "chain" or not entry.optima,
    larger=4,  # E[tau] costs less than a law
)


def _ratios(mean: np.ndarray, best: np.ndarray) -> np.ndarray:
    return np.where(best > 0, mean / np.where(best > 0, best, 1), 1.0)
