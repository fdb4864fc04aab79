"""What a registered claim is, and the ways in which one is checked."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from proofs_check.induction import THEOREMS
from proofs_check.means import Mean, compare
from proofs_check.prove import prove
from simulators.verdict import judge
from theory.drafts import Scheme
from theory.instance import Instance
from theory.verifiers import named

EVERY = "proved for every vocabulary and depth"
SIZES = "proved for the sizes listed"
REFUTED = "refuted"
UNDECIDED = "undecided"

Case = tuple[int, Scheme]
"""A vocabulary and a draft."""


def unrefuted(instances: int) -> str:
    """The verdict of a search that found nothing."""
    return f"no counterexample in {instances:,} exact instances"


@dataclass(frozen=True)
class Claim:
    """A statement in our words, where it comes from, how far it was decided, and how to decide it again.

    `seconds` is about what the check takes on a 2-core virtual machine; `note` what is worth
    knowing beside the verdict, such as a witness.
    """

    key: str
    statement: str
    source: str
    scope: str
    verdict: str
    seconds: float
    check: Callable[[], str]
    note: str = ""

    @property
    def command(self) -> str:
        return f"draftproof claims {self.key}"


def by_induction(name: str) -> Callable[[], str]:
    """Every step of a written-down theorem is checked."""
    return lambda: EVERY if THEOREMS[name].check().holds else UNDECIDED


def lossless(verifier: str, *cases: Case, seconds: float = 600.0) -> Callable[[], str]:
    """Sign-cell proofs of one verifier at every size given."""

    def check() -> str:
        for vocab, scheme in cases:
            verdict = prove(named(verifier), scheme, vocab, seconds).verdict
            if verdict != "proved":
                return verdict
        return SIZES

    return check


def mean_relation(
    wanted: str, a: Mean, b: Mean, *sizes: tuple[int, int], seconds: float = 600.0
) -> Callable[[], str]:
    """E[tau] of one beside the other: "equal" or "never below", at every (vocabulary, depth)."""

    def check() -> str:
        for vocab, depth in sizes:
            relation = compare(a, b, vocab, depth, seconds).relation
            if relation in ("refuted", "undecided"):
                return relation
            if wanted == "equal" and relation != "equal":
                return REFUTED
        return SIZES

    return check


def searched(
    instances: Callable[[], Iterable[Instance]], holds: Callable[[Instance], bool]
) -> Callable[[], str]:
    """A search through exact instances that ends at the first exception."""

    def check() -> str:
        count = 0
        for instance in instances():
            if not holds(instance):
                return REFUTED
            count += 1
        return unrefuted(count)

    return check


def is_lossless(verifier: str) -> Callable[[Instance], bool]:
    """Whether exact enumeration finds the target's law."""
    return lambda instance: judge(instance, named(verifier)).lossless
