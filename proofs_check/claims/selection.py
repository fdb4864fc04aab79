"""What selection does to the joint law of a batch: TETRIS, its two repairs, and predictable rules."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from draftproof.proofs_check.cells.domain import Domain
from draftproof.proofs_check.cells.symbol import Symbol
from draftproof.proofs_check.claims.checks import SECONDS
from draftproof.proofs_check.claims.claim import (
    CELLS,
    EVERY,
    REFUTED,
    SIZES,
    UNDECIDED,
    Claim,
)
from draftproof.proofs_check.claims.every_size import PRODUCT, BatchRun, CodeRun, Kept
from draftproof.proofs_check.every_size import prove_predictable
from draftproof.proofs_check.every_size.contracts import tested
from draftproof.proofs_check.every_size.reads import ANY_LENGTH
from draftproof.proofs_check.means import Mean, compare
from draftproof.simulators.instances.batches import witness
from draftproof.simulators.laws.batches import judge_batch
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.oracle import Oracle
from draftproof.theory.selection import RULES, named
from draftproof.theory.selection.batch import Batch, presented
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named as verifier

TOKEN = verifier("token")


def first_tokens(rule: str, domain: Domain, oracle: Oracle) -> tuple[tuple[int, ...], int]:
    """One call for two requests of one drafted token each at capacity 1: the first tokens, and how many kept
    tokens were accepted. The rows of request r are the domain's after token r.
    """
    tables = [
        [Table(domain.vocab, {(): rows[(r,)]}) for rows in (domain.target, domain.proposal)] for r in (0, 1)
    ]
    batch = Batch(tuple(Instance(p, q, Chain(1)) for p, q in tables), named(rule), 1)
    shown = batch.select([(oracle.choose(request.proposal[()]),) for request in batch.requests])
    first, accepted = [], 0
    for request, each in zip(batch.requests, shown, strict=True):
        draft, target = presented(request, each)
        stop = TOKEN.verify(oracle, draft, target) if draft.root.children else (draft.root, target[()])
        node, row = stop
        accepted += min(len(node.prefix), each.kept)
        first.append(node.prefix[0] if node.prefix else oracle.choose(row))
    return tuple(first), accepted


class Joint:
    """Proves by sign cells that two requests keep their joint law and accept as much as under TETRIS."""

    behind = CELLS

    def __init__(self, rule: str, *vocabs: int):
        self.rule, self.vocabs = rule, vocabs

    def __call__(self) -> str:
        for vocab in self.vocabs:
            for got, want in self._equations(vocab):
                found = compare(got, want, vocab, Chain(2), SECONDS).relation
                if found != "equal":
                    return UNDECIDED if found == "undecided" else REFUTED
        return SIZES

    def _equations(self, vocab: int) -> Iterator[tuple[Mean, Mean]]:
        def accepted(rule: str) -> Mean:
            return lambda domain, oracle: domain.number(first_tokens(rule, domain, oracle)[1])

        def got(words: tuple[int, ...]) -> Mean:
            def mean(domain: Domain, oracle: Oracle) -> Symbol:
                return domain.number(int(first_tokens(self.rule, domain, oracle)[0] == words))

            return mean

        def want(words: tuple[int, ...]) -> Mean:
            return lambda domain, oracle: domain.target[(0,)][words[0]] * domain.target[(1,)][words[1]]

        yield accepted(self.rule), accepted("tetris")
        for words in product(range(vocab), repeat=2):
            yield got(words), want(words)


def _on_its_witness(rule: str) -> str:
    return UNDECIDED if judge_batch(witness(rule), TOKEN).lossless else REFUTED


@dataclass(frozen=True)
class KeepsAsMuch(Kept):
    """That two rules keep the same tokens, and the verifiers judge each token whatever comes after it."""

    rules: tuple[str, ...]

    def __call__(self) -> str:
        same = len({named(name).select for name in self.rules}) == 1
        return super().__call__() if same else UNDECIDED


@dataclass(frozen=True)
class Refilled(CodeRun):
    """That a rule which refills shows each request a chain drawn from the rows that it is shown with."""

    rule: str

    def __call__(self) -> str:
        ahead = replace(named(self.rule), ahead=True)  # a token is kept by itself and by tokens before it
        found = prove_predictable(ahead)
        same = f"{self.rule}: {ANY_LENGTH}" in found.claims and tested(presented)
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
        "tetris-refill-each",
        "TETRIS refilled against q 1_K keeps the law of each request with token, block and traversal "
        "verification and HSD.",
        "our derivation; docs/selection.md",
        "every batch of chains, every capacity",
        Refilled(CHAIN_RULES, "tetris-refill"),
        EVERY,
        seconds=8,
    ),
    Claim(
        "tetris-refill-two-tokens",
        "TETRIS refilled against q 1_K keeps the joint law and accepts as many tokens.",
        "our derivation; docs/selection.md",
        f"{PAIR}, V = 2",
        Joint("tetris-refill", 2),
        seconds=9,
    ),
    Claim(
        "tetris-refill-joint",
        "TETRIS refilled against q 1_K keeps the joint law.",
        "our derivation; docs/selection.md",
        f"{PAIR}, V = 3",
        lambda: _on_its_witness("tetris-refill"),
        REFUTED,
        note="each request keeps its law, but tokens 0 and 1 come out together with 5/24 for 1/6: the "
        "residual after a rejection depends on the other request's draft",
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
        "law of token, block and traversal verification and of HSD.",
        "our derivation; docs/selection.md",
        "every batch of chains, every capacity",
        BatchRun(CHAIN_RULES, tuple(rule.name for rule in RULES.values() if rule.predictable)),
        EVERY,
        seconds=9,
    ),
)
