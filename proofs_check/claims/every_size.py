"""Claims for every vocabulary and depth: proved by a run of the verifiers' own code."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from draftproof.proofs_check.claims.claim import CODE, EVERY, FOLLOWS, THEOREM, UNDECIDED
from draftproof.proofs_check.every_size import Result, prove_accepted, prove_every_size
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import named

SECONDS = 300.0  # time limit of one verifier, in CPU seconds


@cache
def run(prover: Callable[[Verifier, float], Result], verifier: Verifier) -> Result:
    """What the prover finds of the verifier; kept, since several claims rest on one run."""
    return prover(verifier, SECONDS)


@dataclass(frozen=True)
class CodeRun:
    """Runs the verifiers' own code at every size."""

    verifiers: tuple[str, ...]
    behind, proves = CODE, EVERY

    def __call__(self) -> str:
        proofs = (run(prove_every_size, named(name)) for name in self.verifiers)
        return EVERY if all(proof.verdict == "proved" for proof in proofs) else UNDECIDED


@dataclass(frozen=True)
class Kept:
    """Runs the verifiers' own code for what they keep of a drafted token: `law` is what is to be found."""

    verifiers: tuple[str, ...]
    law: str
    behind, proves = CODE, EVERY

    def __call__(self) -> str:
        proofs = [run(prove_accepted, named(name)) for name in self.verifiers]
        found = all(proof.claims and all(self.law in claim for claim in proof.claims) for proof in proofs)
        return EVERY if found and all(proof.verdict == "proved" for proof in proofs) else UNDECIDED


PRODUCT, PREFIX, JOINT = "once its prefix is kept", "is the probability of its prefix", "grows by p / q"
"""A drafted token of q is kept with mass min(a p, q). Once its prefix is kept a = 1; or a is the probability
that its prefix is kept, then w, with w = min(1, w p / q) below; or a is the ratio of the prefix's joint
probabilities.
"""
LAWS = {"product": PRODUCT, "prefix": PREFIX}
KEEPS = {"token": PRODUCT, "block": PREFIX, "hsd": PREFIX, "greedy-block": JOINT, "hsd-naive": JOINT}


@dataclass(frozen=True)
class Stated:
    """A statement proved in Rocq; what it says of the verifiers of `keeps` is proved from their code."""

    keeps: tuple[str, ...] = ()

    @property
    def behind(self) -> tuple[str, ...]:
        return (CODE,) * bool(self.keeps)

    @property
    def proves(self) -> str:
        return FOLLOWS if self.keeps else THEOREM

    def __call__(self) -> str:
        return self.proves if all(Kept((name,), KEEPS[name])() == EVERY for name in self.keeps) else UNDECIDED
