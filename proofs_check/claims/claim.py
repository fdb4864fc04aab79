"""What a registered claim is, and the ways in which one is checked."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from draftproof.proofs_check.induction import THEOREMS
from draftproof.proofs_check.means import Mean, accepted, compare
from draftproof.proofs_check.prove import prove
from draftproof.simulators.verdict import judge
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.verifiers import named

EVERY = "proved for every vocabulary and depth"
SIZES = "proved for the sizes listed"
REFUTED = "refuted"
UNDECIDED = "undecided"

SECONDS = 1800.0
"""Time limit of one sign-cell proof, in CPU seconds."""

Case = tuple[int, Scheme]
"""A vocabulary and a draft."""


def unrefuted(instances: int) -> str:
    """The verdict of a search that found nothing."""
    return f"no counterexample in {instances:,} exact instances"


@dataclass(frozen=True)
class Claim:
    """A statement in our words, where it comes from, how far it was decided, and how to decide it again.

    `seconds` is about the CPU time that the check takes; `note` what is worth
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


def every(
    key: str, theorem: str, statement: str, source: str, scope: str = "every chain", note: str = ""
) -> Claim:
    """A claim that a written-down induction proof decides."""
    return Claim(key, statement, source, scope, EVERY, 1, Induction(theorem), note)


@dataclass(frozen=True)
class Induction:
    """Every step of a written-down theorem is checked."""

    theorem: str

    def __call__(self) -> str:
        return EVERY if THEOREMS[self.theorem].check().holds else UNDECIDED


class Lossless:
    """Sign-cell proofs of one verifier at every size given."""

    def __init__(self, verifier: str, *cases: Case):
        self.verifier, self.cases = verifier, cases

    def __call__(self) -> str:
        for vocab, scheme in self.cases:
            verdict = prove(named(self.verifier), scheme, vocab, SECONDS).verdict
            if verdict != "proved":
                return verdict
        return SIZES


def means(verifier: str) -> Callable[[Scheme], Mean]:
    """E[tau] of a verifier on a draft."""
    return lambda scheme: accepted(named(verifier), scheme)


class Related:
    """One mean beside another, "equal" or "never below", by sign cells in every case."""

    def __init__(self, wanted: str, a: Callable[[Scheme], Mean], b: Callable[[Scheme], Mean], *cases: Case):
        self.wanted, self.a, self.b, self.cases = wanted, a, b, cases

    def __call__(self) -> str:
        for vocab, scheme in self.cases:
            relation = compare(self.a(scheme), self.b(scheme), vocab, scheme, SECONDS).relation
            if relation in ("refuted", "undecided"):
                return relation
            if self.wanted == "equal" and relation != "equal":
                return REFUTED
        return SIZES


class Together:
    """Several sign-cell checks as one."""

    def __init__(self, *parts: Lossless | Related):
        self.parts = parts

    def __call__(self) -> str:
        return next((found for part in self.parts if (found := part()) != SIZES), SIZES)


def chains(vocab: int, *depths: int) -> list[Case]:
    """Chains of some depths."""
    return [(vocab, Chain(depth)) for depth in depths]


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
