"""What a registered claim is, and the claims of the theorems that hold at every size."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from draftproof.proofs_check.induction import THEOREMS

EVERY = "proved for every vocabulary and depth"
SIZES = "proved for the sizes listed"
REFUTED = "refuted"
UNDECIDED = "undecided"


def unrefuted(instances: int) -> str:
    """The verdict of a search that found no counterexample."""
    return f"no counterexample in {instances:,} exact instances"


@dataclass(frozen=True)
class Claim:
    """A statement in our words, its source, the sizes it was decided for, and how to decide it again.

    `check` returns the verdict found now and takes about `seconds` of CPU time; `verdict` is the recorded
    one, to which `note` adds, such as a witness.
    """

    key: str
    statement: str
    source: str
    scope: str
    check: Callable[[], str]
    verdict: str = SIZES
    seconds: float = 1
    note: str = ""

    @property
    def command(self) -> str:
        return f"draftproof claims {self.key}"


@dataclass(frozen=True)
class Induction:
    """Checks every step of a theorem."""

    theorem: str

    def __call__(self) -> str:
        return EVERY if THEOREMS[self.theorem].check().holds else UNDECIDED


def by_induction() -> Iterator[Claim]:
    """A claim for every theorem and corollary of `induction`."""
    for theorem in THEOREMS.values():
        for each in (theorem, *theorem.corollaries):
            scope = each.scope or theorem.scope
            yield Claim(each.key, each.statement, each.source, scope, Induction(theorem.key), EVERY)
