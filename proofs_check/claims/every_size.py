"""Claims for every vocabulary and depth: proved by a run of the verifiers' own code."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from draftproof.proofs_check.claims.claim import CODE, EVERY, REACHED, STATED, UNDECIDED, WRITTEN, Claim
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
    behind = CODE

    def __call__(self) -> str:
        proofs = (run(prove_every_size, named(name)) for name in self.verifiers)
        return EVERY if all(proof.verdict == "proved" for proof in proofs) else UNDECIDED


@dataclass(frozen=True)
class Kept:
    """Runs the verifiers' own code for what they keep of a drafted token: `law` is what is to be found."""

    verifiers: tuple[str, ...]
    law: str
    behind = CODE

    def __call__(self) -> str:
        proofs = [run(prove_accepted, named(name)) for name in self.verifiers]
        found = all(proof.claims and all(self.law in claim for claim in proof.claims) for proof in proofs)
        return EVERY if found and all(proof.verdict == "proved" for proof in proofs) else UNDECIDED


PRODUCT, PREFIX, JOINT = "once its prefix is kept", "is the probability of its prefix", "grows by p / q"
"""A drafted token of q is kept with mass min(a p, q). Once its prefix is kept a = 1; or a is the probability
that its prefix is kept, then w, with w = min(1, w p / q) below; or a is the ratio of the prefix's joint
probabilities.
"""
KEEPS = {"token": PRODUCT, "block": PREFIX, "hsd": PREFIX, "greedy-block": JOINT, "hsd-naive": JOINT}


@dataclass(frozen=True)
class Stated:
    """A statement whose proof is in its source: only what it says of the verifiers of `keeps` is proved."""

    keeps: tuple[str, ...] = ()

    @property
    def behind(self) -> tuple[str, ...]:
        return (CODE, WRITTEN) if self.keeps else (WRITTEN,)

    def __call__(self) -> str:
        if not self.keeps:
            return STATED
        return REACHED if all(Kept((name,), KEEPS[name])() == EVERY for name in self.keeps) else UNDECIDED


def proved(
    key: str, verifiers: tuple[str, ...], statement: str, source: str, scope: str, seconds: float = 2
) -> Claim:
    """A claim that is proved by a run of the verifiers' code."""
    return Claim(key, statement, source, scope, CodeRun(verifiers), EVERY, seconds)


def kept(
    key: str, verifiers: tuple[str, ...], law: str, statement: str, source: str, scope: str = "every chain"
) -> Claim:
    """A claim about what verifiers keep of a drafted token, proved by a run of their code."""
    return Claim(key, statement, source, scope, Kept(verifiers, law), EVERY, 2 + 2 * len(verifiers))


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
        "our derivation; other lifts: cha2026layer, weng2026univer; with recursive rejection's masses: "
        "weng2025traversal",
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
    proved(
        "optimal-every-size",
        ("optimal", "lifted-optimal"),
        "The optimum of every node is lossless, from the root down and lifted.",
        named("optimal").source,
        "every chain and every tree whose siblings are drawn independently",
    ),
    proved(
        "hsd-lossless",
        ("hsd",),
        "HSD as its paper writes it is lossless.",
        "zhou2026hsd, Algorithm 2, Equations 19-20 and Theorem 6",
        "every chain",
        4,
    ),
    proved(
        "greedy-lossless",
        ("greedy-block",),
        "Greedy block verification is lossless with the modified target that it leaves behind.",
        "sun2025block, greedy block verification (appendix); zhou2026hsd, Algorithm 1 and Theorem 5",
        "every chain",
        4,
    ),
    proved(
        "shaped-block-every-size",
        ("shaped-block",),
        "Shaped block verification is lossless with the row that it leaves behind.",
        "draftproof, docs/findings.md",
        "every chain",
        40,
    ),
    proved(
        "hsd-naive-lossless",
        ("hsd-naive",),
        "Naive HSD, with all positions after a stop drawn from the hierarchy, is lossless.",
        "zhou2026hsd, Algorithm 1 and Theorem 5",
        "every chain",
        4,
    ),
    proved(
        "hsd-naive-resampling",
        ("hsd-naive",),
        "Naive HSD draws a word again with the positive part of p - q of the word as its mass.",
        "zhou2026hsd, Lemma 3",
        "every chain",
        4,
    ),
    kept(
        "token-mean",
        ("token",),
        PRODUCT,
        "E[tau] of token verification is the sum over words x^l of prod min(p, q).",
        "leviathan2023fast, expected number of accepted tokens",
    ),
    kept(
        "block-keeps-w",
        ("block",),
        PREFIX,
        "Given the first l drafted tokens block verification keeps at least l with probability w_l.",
        "sun2025block, Lemma 3; weng2025traversal, Lemma B.1",
    ),
    kept(
        "block-mean",
        ("block",),
        PREFIX,
        "E[tau] of block verification is the sum over words x^l of q(x^l) w_l.",
        "sun2025block, Algorithm 2 and Lemma 3",
    ),
    kept(
        "hsd-is-block",
        ("hsd", "block"),
        PREFIX,
        "HSD has the acceptance probabilities, residuals and so E[tau] of block verification.",
        "zhou2026hsd, Theorem 7, first inequality",
    ),
    kept(
        "traversal-is-block-on-a-chain",
        ("traversal", "block"),
        PREFIX,
        "On a chain Traversal Verification keeps l tokens with block verification's w_l.",
        "weng2025traversal, Theorem 3.4, Lemma B.1 and Lemma B.2",
    ),
    kept(
        "shaped-block-keeps-w",
        ("shaped-block", "block"),
        PREFIX,
        "A call of shaped block verification keeps what block verification does.",
        "draftproof, docs/findings.md",
    ),
)
