"""E[tau] of verifiers compared with the certified optima: on one instance, and as means over many."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from draftproof.simulators.instances.own_draft import OwnDraft
from draftproof.simulators.laws.check import applies
from draftproof.simulators.laws.enumerate import Invalid, emission
from draftproof.simulators.laws.optimum import full_information, stateless
from draftproof.simulators.laws.repeat import must_have_a_law
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.numbers import ZERO, shown, text
from draftproof.theory.rows import Number
from draftproof.theory.shared.reportable import Reportable
from draftproof.theory.transport.bounds import Optimum
from draftproof.theory.transport.certificate import Certificate
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS

ABOVE, STATE, LOSSY = "lossy: above the valid optimum", "keeps state", "declared lossy"
"""Notes on a verifier that exceeds the stateless optimum or may exceed it."""

ROUNDED = fmpq(1, 10**5)
"""How far rounding may take E[tau] of a rule that computes in floats."""

REACHED = 1e-9
"""A verifier reaches an optimum if the ratio is at least 1 - REACHED; certified errors are smaller."""


@dataclass(frozen=True, repr=False)
class Gap(Reportable):
    """E[tau] of one iteration by verifier, exact, with the optima of one instance.

    `full` bounds every verifier in its first iteration, `stateless` every one that is lossless in each
    iteration by itself. `invalid` says why a verifier has no law; its value is 0.
    """

    instance: Instance
    expected_accepted: dict[str, fmpq]
    full: Certificate
    stateless: Optimum
    rules: Mapping[str, Verifier] = field(default_factory=dict)
    invalid: Mapping[str, str] = field(default_factory=dict)

    def shares(self, name: str) -> tuple[float, float]:
        """E[tau] over the certified upper bound of the stateless and over the full-information optimum."""
        mean = self.expected_accepted[name]
        return ratio(mean, self.stateless.upper), ratio(mean, self.full.value)

    def note(self, name: str) -> str:
        """The remark on a verifier's number; may be empty."""
        return remark(self.rules[name], self.expected_accepted[name] - self.stateless.upper)

    def __str__(self) -> str:
        best, full = self.stateless.value, shown(self.full.value)
        many = f"E[tau] of {len(self.expected_accepted)} verifiers"
        return f"{self.instance}: {many}; optimum stateless {best:.6g}, full information {full}"

    def to_dict(self) -> dict[str, Any]:
        """Exact values are texts; a solver's number comes with its error."""
        best, optimum = self.stateless, {"full_information": text(self.full.value)}
        lower = text(best.lower)
        valid: dict[str, Any] = {"stateless": best.value, "stateless_error": best.error}
        return {
            "expected_accepted": {name: text(mean) for name, mean in self.expected_accepted.items()},
            "optimum": optimum | ({"stateless": lower} if best.lower == best.upper else valid),
            "certificates": {
                "full_information": {"primal": text(self.full.primal), "dual": text(self.full.value)},
                "stateless": {"lower": lower, "upper": text(best.upper)},
                "above_stateless": [name for name in self.expected_accepted if self.note(name) == ABOVE],
            },
            **({"invalid": dict(self.invalid)} if self.invalid else {}),
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row for each verifier, the largest E[tau] first, with its shares of the optima."""
        means = sorted(self.expected_accepted.items(), key=lambda pair: -pair[1])
        return [
            {"verifier": name, "expected_accepted": text(mean)}
            | dict(zip(("share_stateless", "share_full"), self.shares(name), strict=True))
            | {"note": self.note(name)}
            for name, mean in means
        ]


def measure(
    instance: Instance,
    verifiers: Iterable[Verifier] | None = None,
    progress: Callable[[str], object] = lambda name: None,
) -> Gap:
    """E[tau] of the verifiers (by default all that apply) and both optima.

    `progress` is called with the name of what is computed next. Raises BadInput when no verifier is made for
    the draft, or the instance is too large.
    """
    chosen = applicable(instance) if verifiers is None else list(verifiers)
    progress("the full-information optimum")
    full = full_information(instance)
    progress("the stateless optimum")
    valid = stateless(instance)
    means: dict[str, fmpq] = {}
    invalid: dict[str, str] = {}
    for verifier in chosen:
        progress(verifier.name)
        try:
            means[verifier.name] = expected(instance, verifier)
        except Invalid as error:
            must_have_a_law(verifier, str(error))
            means[verifier.name], invalid[verifier.name] = ZERO, str(error)
    rules = {verifier.name: verifier for verifier in chosen}
    return Gap(instance, means, full, valid, rules, invalid)


def applicable(instance: Instance) -> list[Verifier]:
    """Every verifier that is made for the instance's draft."""
    found = [verifier for verifier in VERIFIERS.values() if applies(verifier, instance)]
    if not found:
        raise BadInput(f"{instance.name}: no verifier is made for {instance.draft.label}")
    return found


def expected(instance: Instance, verifier: Verifier) -> fmpq:
    """E[tau] of one iteration, exact, by enumeration."""
    return emission(instance, verifier).expected_accepted


def ratio(mean: Number, best: Number) -> float:
    """The ratio of E[tau] to an optimum; 1 if the optimum is 0."""
    return float(mean / best) if best > 0 else 1.0


def remark(verifier: Verifier, above: fmpq) -> str:
    """The note on a verifier whose E[tau] is so far above the stateless optimum, or below if negative."""
    if verifier.carry is not None:
        return STATE
    if above > (ROUNDED if verifier.rounding else 0):
        return ABOVE
    return "" if verifier.lossless else LOSSY


def described(draft: Scheme) -> str:
    """A draft in words: its number of paths, if several, and its depth; one of the user's by its spelling."""
    if isinstance(draft, OwnDraft):
        return draft.spelling
    return f"{f'{draft.count} of ' if isinstance(draft, Paths) else ''}depth {draft.depth}"
