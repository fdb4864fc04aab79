"""Claims for every vocabulary and depth: proved in Rocq, or by a run of the verifiers' own code."""

from dataclasses import dataclass
from functools import cache

from draftproof.proofs_check.claims.claim import CODE, EVERY, ROCQ, THEOREM, UNDECIDED
from draftproof.proofs_check.every_size import Result, prove_every_size
from draftproof.proofs_check.every_size.contracts import THEOREMS
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import named

SECONDS = 300.0  # time limit of one verifier, in CPU seconds


@cache
def run(verifier: Verifier) -> Result:
    """What the prover finds of the verifier; kept, since several claims rest on one run."""
    return prove_every_size(verifier, SECONDS)


@dataclass(frozen=True)
class CodeRun:
    """The verifiers are lossless at every size: by a theorem about their own code, or by a run of it."""

    verifiers: tuple[str, ...]
    proves = EVERY

    @property
    def behind(self) -> tuple[str, ...]:
        return tuple({ROCQ if named(name).verify in THEOREMS else CODE: 0 for name in self.verifiers})

    def __call__(self) -> str:
        return EVERY if all(run(named(name)).verdict == "proved" for name in self.verifiers) else UNDECIDED


@dataclass(frozen=True)
class Stated:
    """A statement proved in Rocq, whose theorem is about the code of these verifiers."""

    verifiers: tuple[str, ...] = ()
    behind, proves = (), THEOREM

    def __call__(self) -> str:
        return THEOREM if all(run(named(name)).theorem for name in self.verifiers) else UNDECIDED
