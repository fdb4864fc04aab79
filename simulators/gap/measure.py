"""One instance beside what is possible: E[tau] of verifiers, and the certified optima."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from flint import fmpq

from draftproof.simulators.check import applies
from draftproof.simulators.enumerate import emission
from draftproof.simulators.optimum import full_information, stateless
from draftproof.theory.closed_forms import FORMS
from draftproof.theory.errors import BadInput
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Number
from draftproof.theory.transport.bounds import Optimum
from draftproof.theory.transport.certificate import Certificate
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import VERIFIERS

STATEFUL = (
    "Verifiers that keep state can be lossless over iterations and yet above the stateless optimum in one."
)
ABOVE = "lossy: above the valid optimum"
STATE = "keeps state"
LOSSY = "declared lossy"


@dataclass(frozen=True)
class Gap:
    """E[tau] of one iteration by verifier, exact, with the optima of one instance.

    `full` bounds every verifier, `stateless` every one that is lossless in each iteration by itself.
    """

    instance: Instance
    expected_accepted: dict[str, fmpq]
    full: Certificate
    stateless: Optimum

    def shares(self, name: str) -> tuple[float, float]:
        """E[tau] over the certified upper bound of the stateless and over the full-information optimum."""
        mean = self.expected_accepted[name]
        return ratio(mean, self.stateless.upper), ratio(mean, self.full.value)

    def note(self, name: str) -> str:
        """What has to be said about a verifier's number, if anything."""
        return remark(VERIFIERS[name], self.expected_accepted[name] > self.stateless.upper)


def measure(
    instance: Instance,
    verifiers: Iterable[Verifier] | None = None,
    each: Callable[[str], object] = lambda name: None,
) -> Gap:
    """E[tau] of the verifiers (all that apply if none are given) and both optima; `each` hears what is next.

    Raises BadInput when no verifier is made for the draft, or the instance is too large.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> found = measure(scenario("toy", Chain(2)))
    >>> found.expected_accepted["block"], found.full.value, found.note("hsd-released")
    (11/9, 4/3, 'lossy: above the valid optimum')
    """
    chosen = applicable(instance) if verifiers is None else list(verifiers)
    each("the full-information optimum")
    full = full_information(instance)
    each("the stateless optimum")
    valid = stateless(instance)
    means: dict[str, fmpq] = {}
    for verifier in chosen:
        each(verifier.name)
        means[verifier.name] = expected(instance, verifier)
    return Gap(instance, means, full, valid)


def applicable(instance: Instance) -> list[Verifier]:
    """Every verifier that is made for the instance's draft."""
    found = [verifier for verifier in VERIFIERS.values() if applies(verifier, instance)]
    if not found:
        raise BadInput(f"{instance.name}: no verifier is made for {instance.draft.label}")
    return found


def expected(instance: Instance, verifier: Verifier) -> fmpq:
    """E[tau] of one iteration, exact: in closed form where there is one, else by enumeration.

    >>> from draftproof.simulators.instances.scenarios import scenario
    >>> from draftproof.theory.drafts.chain import Chain
    >>> from draftproof.theory.verifiers import named
    >>> expected(scenario("toy", Chain(2)), named("token"))
    10/9
    """
    form = FORMS.get((verifier.name, instance.draft.label))
    try:
        if form:
            return form(instance)
    except BadInput:  # no closed form for this shape
        pass
    return emission(instance, verifier).expected_accepted


def ratio(mean: Number, best: Number) -> float:
    """A share of an optimum; all of it, where nothing can be accepted.

    >>> ratio(fmpq(0), fmpq(0)), ratio(fmpq(1), fmpq(4, 3))
    (1.0, 0.75)
    """
    return float(mean / best) if best > 0 else 1.0


def remark(verifier: Verifier, above: bool) -> str:
    """The words for a verifier that may be, or is, above the stateless optimum."""
    if verifier.carry is not None:
        return STATE
    if above:
        return ABOVE
    return "" if verifier.lossless else LOSSY
