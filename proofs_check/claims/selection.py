"""What selection does to the joint law of a batch: TETRIS, its two repairs, and predictable rules."""

from dataclasses import dataclass

from draftproof.proofs_check.claims.claim import CODE, EVERY, EXACT, REFUTED, UNDECIDED, Claim
from draftproof.proofs_check.claims.every_size import PRODUCT, CodeRun, Kept
from draftproof.simulators.instances.batches import Batches, witness
from draftproof.simulators.laws.batches import judge_batch, measure_batch
from draftproof.theory.selection import RULES, named
from draftproof.theory.verifiers import named as verifier

TOKEN = verifier("token")


def _on_its_witness(rule: str) -> str:
    return UNDECIDED if judge_batch(witness(rule), TOKEN).lossless else REFUTED


def _tetris_emits_most() -> str:
    gap = measure_batch(witness("tetris"), TOKEN)
    return REFUTED if gap.emitted["tetris"] < gap.predictable else UNDECIDED


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
PAIR = "two requests of one drafted token each, capacity 1"

CLAIMS = (
    Claim(
        "tetris-lossless",
        "TETRIS keeps the law of each request.",
        "wu2025tetris, Algorithm 1",
        f"{PAIR}, V = 2",
        lambda: _on_its_witness("tetris"),
        REFUTED,
        note="token 0 of the second request with 1/3 for 1/2: p = (0, 1), q = (1/2, 1/2) and p = (1/2, 1/2), "
        "q = (1/3, 2/3). A token is kept for its own probability",
    ),
    Claim(
        "tetris-repaired-lossless",
        "TETRIS that judges the first dropped token too, with the row of the extra token, keeps the joint "
        "law of token, block and traversal verification and of HSD.",
        "our derivation; docs/selection.md",
        "every batch of chains, every capacity",
        BatchRun(CHAIN_RULES, ("tetris-repaired",)),
        EVERY,
        seconds=8,
    ),
    Claim(
        "tetris-repaired-accepts",
        "TETRIS that judges the first dropped token too accepts as many of the kept tokens, draft by draft, "
        "with token verification.",
        "our derivation; docs/selection.md",
        "every batch of chains, every capacity",
        KeepsAsMuch(("token",), PRODUCT, ("tetris", "tetris-repaired")),
        EVERY,
        seconds=2,
    ),
    Claim(
        "tetris-optimal",
        "No rule that knows the rows of p and q emits more tokens of a batch than TETRIS.",
        "wu2025tetris, optimality of the selection",
        f"{PAIR}, V = 2",
        _tetris_emits_most,
        REFUTED,
        note="8/3 on its witness, a predictable rule 17/6: a likely draft need not be accepted",
    ),
    Claim(
        "dspark-past-a-fall",
        "DSpark that looks past a fall of the throughput keeps the law.",
        "dspark2026throughput, Appendix A",
        "one request, a chain of 2, V = 2",
        lambda: _on_its_witness("dspark-retrospective"),
        REFUTED,
        note="token 0 with 17/20 for 7/10",
    ),
    Claim(
        "forbidden-refill",
        "A drafted token that a mask forbids may be taken out of the draft and its place refilled from p.",
        "kwon2023vllm, structured output with drafts (release 0.33.0)",
        "one request of one drafted token, V = 3",
        lambda: _on_its_witness("drop-forbidden"),
        REFUTED,
        note="token 0 with 3/4 for 1/2: p = (1/2, 1/2, 0), q = (1/2, 0, 1/2). It was drawn, and Y comes from "
        "(p - q)+; only an absent draft is filled from p",
    ),
    Claim(
        "masks-kept-drafts",
        "With a mask, penalty or filter on the target alone, drafts that are kept are verified exactly by "
        "token, block and traversal verification: processed rows are rows of a target.",
        "our derivation; docs/selection.md",
        "every table of rows, on chains and sampled trees",
        CodeRun(("token", "block", "traversal")),
        EVERY,
        seconds=5,
    ),
    Claim(
        "predictable-selection",
        "A rule that reads only what it has revealed, as the rules declared predictable do, keeps the joint "
        "law of token, block and traversal verification and of HSD, with coins that are never used twice.",
        "our derivation; docs/selection.md",
        "every batch of chains, every capacity",
        BatchRun(CHAIN_RULES, tuple(rule.name for rule in RULES.values() if rule.predictable)),
        EVERY,
        seconds=9,
    ),
)
