"""What selection does to the joint law of a batch: TETRIS, its two repairs, and predictable rules."""

from dataclasses import dataclass, replace

from draftproof.proofs_check.claims.claim import EVERY, EXACT, REFUTED, UNDECIDED
from draftproof.proofs_check.claims.every_size import CodeRun, Stated, run
from draftproof.simulators.instances.batches import Batches, witness
from draftproof.simulators.laws.verdicts.batches import judge_batch
from draftproof.theory.numbers import ONE
from draftproof.theory.selection import RULES, named
from draftproof.theory.verifiers import named as verifier

TOKEN = verifier("token")
FAIR = "token", "block", "hsd", "traversal"
"""Verifiers for which CodeFair.v proves that a drafted token more changes nothing, on average."""


def _on_its_witness(rule: str) -> str:
    return UNDECIDED if judge_batch(witness(rule), TOKEN).lossless else REFUTED


def _tetris_emits_most() -> str:
    # The other rule is DSpark at a constant speed: it is predictable, and it knows the rows.
    batch = witness("tetris")
    known = replace(batch, rule=named("dspark"), speed=(ONE, ONE))
    tetris, dspark = (judge_batch(each, TOKEN).expected_accepted for each in (batch, known))
    return REFUTED if tetris < dspark else UNDECIDED


@dataclass(frozen=True)
class BatchRun(CodeRun):
    """Runs rules that are declared predictable: that such a rule keeps the joint law is proved in Rocq, for
    verifiers that are fair (CodeFair.v); that it reads no more than that, its view enforces.
    """

    rules: tuple[str, ...]

    @property
    def behind(self) -> tuple[str, ...]:
        return (*super().behind, EXACT)

    def __call__(self) -> str:
        if not all(run(verifier(name)).theorem for name in self.verifiers):
            return UNDECIDED
        for rule in map(named, self.rules):
            batches = Batches(rule, 2, 2, 2, 2, 12)
            if not rule.predictable or not all(judge_batch(each, TOKEN).lossless for each in batches):
                return UNDECIDED
        return EVERY if {*self.verifiers} <= {*FAIR} else UNDECIDED


@dataclass(frozen=True)
class KeepsAsMuch(Stated):
    """That two rules keep the same tokens, and the verifiers judge each token whatever comes after it."""

    rules: tuple[str, ...] = ()

    def __call__(self) -> str:
        same = len({named(name).select for name in self.rules}) == 1
        return super().__call__() if same else UNDECIDED


CHECKS = {
    "tetris-lossless": lambda: _on_its_witness("tetris"),
    "tetris-repaired-lossless": BatchRun(FAIR, ("tetris-repaired",)),
    "tetris-repaired-accepts": KeepsAsMuch(("token",), ("tetris", "tetris-repaired")),
    "tetris-optimal": _tetris_emits_most,
    "dspark-past-a-fall": lambda: _on_its_witness("dspark-retrospective"),
    "forbidden-refill": lambda: _on_its_witness("drop-forbidden"),
    "predictable-selection": BatchRun(FAIR, tuple(rule.name for rule in RULES.values() if rule.predictable)),
}
