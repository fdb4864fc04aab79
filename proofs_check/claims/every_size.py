"""Claims for every vocabulary and depth: proved by a run of the verifiers' own code, or argued by hand."""

from collections.abc import Iterator
from dataclasses import dataclass

from draftproof.proofs_check.claims.claim import CODE, EVERY, UNDECIDED, WRITTEN, Claim
from draftproof.proofs_check.every_size import prove_every_size
from draftproof.proofs_check.induction import THEOREMS
from draftproof.theory.verifiers import named

SECONDS = 300.0  # time limit of one verifier, in CPU seconds


@dataclass(frozen=True)
class CodeRun:
    """Runs the verifiers' own code at every size."""

    verifiers: tuple[str, ...]
    behind = CODE

    def __call__(self) -> str:
        proofs = (prove_every_size(named(name), SECONDS) for name in self.verifiers)
        return EVERY if all(proof.verdict == "proved" for proof in proofs) else UNDECIDED


@dataclass(frozen=True)
class Induction:
    """Checks every step of a theorem."""

    theorem: str
    behind = WRITTEN

    def __call__(self) -> str:
        theorem = THEOREMS[self.theorem]
        return theorem.verdict if theorem.check().holds else UNDECIDED


def proved(
    key: str, verifiers: tuple[str, ...], statement: str, source: str, scope: str, seconds: float = 2
) -> Claim:
    """A claim that is proved by a run of the verifiers' code."""
    return Claim(key, statement, source, scope, CodeRun(verifiers), EVERY, seconds)


def argued() -> Iterator[Claim]:
    """A claim for every theorem and corollary of `induction`."""
    for theorem in THEOREMS.values():
        for each in (theorem, *theorem.corollaries):
            scope = each.scope or theorem.scope
            yield Claim(each.key, each.statement, each.source, scope, Induction(theorem.key), theorem.verdict)


INDEPENDENT = "every chain, every tree with replacement or with stratified siblings"

CLAIMS = (
    proved(
        "token-lossless",
        ("token",),
        "Token verification is lossless.",
        "leviathan2023fast, Algorithm 1; chen2023accelerating",
        "every chain",
    ),
    proved(
        "nss-lossless",
        ("nss",),
        "Naive speculative sampling, which draws from the target, is lossless.",
        "miao2024specinfer, naive sampling",
        "every draft",
    ),
    proved(
        "one-hot-lossless",
        ("one-hot",),
        "The one-hot rule accepts each child with p(x), else takes x out of p: it is lossless.",
        "li2024eagle2, evaluate_posterior",
        "every draft",
    ),
    proved(
        "naive-tree-every-size",
        ("naive-tree",),
        "NaiveTree, which judges the first child by token verification, is lossless.",
        named("naive-tree").source,
        "every tree and path",
    ),
    proved(
        "block-lossless",
        ("block",),
        "Block verification is lossless.",
        "sun2025block, Theorem 1 and Algorithm 2",
        "every chain",
    ),
    proved(
        "recursive-lossless",
        ("specinfer", "rrs"),
        "Recursive rejection in drawing order is lossless, with and without replacement.",
        "miao2024specinfer, Algorithm 2; jeon2024recursive, Algorithm 1; yang2024multicandidate",
        "every tree",
    ),
    proved(
        "traversal-lossless",
        ("traversal",),
        "Traversal Verification in drawing order is lossless.",
        "weng2025traversal, Theorem 3.3 and Algorithm 3",
        "every tree, both ways of drawing",
    ),
    proved(
        "traversal-rate",
        ("traversal",),
        "A subtree of rate a is kept with probability a; what is emitted then follows the target.",
        "weng2025traversal, Lemma A.2",
        "every tree, both ways of drawing",
    ),
    proved(
        "lift-lossless",
        ("lifted",),
        "The lift of a valid single-step rule from leaves to root is lossless.",
        "our derivation; with recursive rejection's masses it is traversal (weng2025traversal)",
        "every tree and rule",
    ),
    proved(
        "k-seq-lossless",
        ("k-seq",),
        "K-SEQ is lossless for every rho with (1 - (1 - beta)^k) / beta <= rho, such as rho = k.",
        "sun2023spectr, Algorithm 2",
        "i.i.d. siblings",
    ),
    proved(
        "lifted-k-seq-lossless",
        ("lifted-k-seq",),
        "The lift of K-SEQ is lossless for every rho that K-SEQ's condition admits at the node.",
        "our derivation; the single-step rule is sun2023spectr, Algorithm 2",
        "i.i.d. siblings",
        60,
    ),
    proved(
        "priority-every-size",
        ("priority",),
        "The priority rule, node by node, is lossless.",
        named("priority").source,
        INDEPENDENT,
    ),
    proved(
        "lifted-priority-every-size",
        ("lifted-priority",),
        "The lift of the priority rule is lossless.",
        named("lifted-priority").source,
        INDEPENDENT,
    ),
    *argued(),
)
