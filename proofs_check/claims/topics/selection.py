"""What selection does to the joint law of a batch: TETRIS, its two repairs, and predictable rules."""

from dataclasses import dataclass

from draftproof.proofs_check.claims.claim import CODE, EXACT, REFUTED, UNDECIDED
from draftproof.proofs_check.claims.every_size import PRODUCT, CodeRun, Kept
from draftproof.simulators.instances.batches import Batches, witness
from draftproof.simulators.laws.verdicts.batches import judge_batch, most_accepted
from draftproof.theory.selection import RULES, named
from draftproof.theory.verifiers import named as verifier

TOKEN = verifier("token")


def _on_its_witness(rule: str) -> str:
    return UNDECIDED if judge_batch(witness(rule), TOKEN).lossless else REFUTED


def _tetris_emits_most() -> str:
    batch = witness("tetris")
    accepted = judge_batch(batch, TOKEN).expected_accepted
    return REFUTED if accepted < most_accepted(batch, TOKEN) else UNDECIDED


@dataclass(frozen=True)
class BatchRun(CodeRun):
    """Runs rules that are declared predictable: that such a rule keeps the joint law is proved in Rocq, for
    verifiers that are lossless at every size; that it reads no more than that, its view enforces.
    """

    rules: tuple[str, ...]
    behind = CODE, EXACT

    def __call__(self) -> str:
        for rule in map(named, self.rules):
            batches = Batches(rule, 2, 2, 2, 2, 12)
            if not rule.predictable or not all(judge_batch(each, TOKEN).lossless for each in batches):
                return UNDECIDED
        return super().__call__()


@dataclass(frozen=True)
class KeepsAsMuch(Kept):
    """That two rules keep the same tokens, and the verifiers judge each token whatever comes after it."""

    rules: tuple[str, ...]

    def __call__(self) -> str:
        same = len({named(name).select for name in self.rules}) == 1
        return super().__call__() if same else UNDECIDED


CHAIN_RULES = "token", "block", "hsd", "traversal"


CHECKS = {
    "tetris-lossless": lambda: _on_its_witness("tetris"),
    "tetris-repaired-lossless": BatchRun(CHAIN_RULES, ("tetris-repaired",)),
    "tetris-repaired-accepts": KeepsAsMuch(("token",), PRODUCT, ("tetris", "tetris-repaired")),
    "tetris-optimal": _tetris_emits_most,
    "dspark-past-a-fall": lambda: _on_its_witness("dspark-retrospective"),
    "forbidden-refill": lambda: _on_its_witness("drop-forbidden"),
    "predictable-selection": BatchRun(
        CHAIN_RULES, tuple(rule.name for rule in RULES.values() if rule.predictable)
    ),
}
