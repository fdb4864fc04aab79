"""Losslessness of the rules that judge a node or a tree: baselines, single-step rules, lifts."""

from draftproof.proofs_check.claims.claim import REFUTED, Claim, every
from draftproof.proofs_check.prove import prove
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.verifiers import named

NODE = "every tree and path"


def _typical() -> str:
    return prove(named("typical"), Chain(1), 2).verdict


CLAIMS = (
    every(
        "nss-lossless",
        "drawing from the target is lossless",
        "every draft",
        statement="Naive speculative sampling is lossless.",
        source="miao2024specinfer, naive sampling",
    ),
    every(
        "sampling-match-lossless",
        "drawing from the target is lossless",
        statement="Sampling-match is lossless.",
        source="kwon2023vllm, drafts without probabilities",
    ),
    every("one-hot-lossless", "the one-hot rule is lossless", "every draft"),
    every(
        "naive-tree-lossless",
        "one judged draft is lossless",
        NODE,
        statement="Token verification of the first child, landing on a drafted sibling where it can, is "
        "lossless.",
        source="thomas2026delayed, NaiveTree",
    ),
    every(
        "hu-greedy-lossless",
        "one judged draft is lossless",
        "every greedy draft",
        statement="The rule for the top n-1 tokens and one sample is lossless.",
        source="hu2025towards, greedy draft",
    ),
    every(
        "khisti-lossless",
        "one judged draft is lossless",
        NODE,
        statement="Selecting a draft by importance weights and verifying it as a single one is lossless for "
        "all weights.",
        source="khisti2025multidraft, Theorem 1",
    ),
    every(
        "global-resolution-lossless",
        "one judged draft is lossless",
        NODE,
        statement="Global Resolution, with its float solution judged by its exact law, is lossless.",
        source="thomas2026global, global resolution for i.i.d. drafts",
    ),
    every("optimal-transport-lossless", "plans are lossless", NODE),
    every(
        "k-seq-lossless",
        "k-seq is lossless",
        "i.i.d. siblings",
        note="rho is a free parameter of the proof; the algebraic rho* and the multiple of 1/1024 above it "
        "are cases",
    ),
    every("lift-lossless", "the lift is lossless", "every tree and rule"),
    every("lifted-k-seq-lossless", "the lift of k-seq is lossless", "i.i.d. siblings"),
    every("layered-lossless", "layered is lossless", "every tree, chain and set of paths"),
    Claim(
        "typical-lossless",
        "Medusa's typical acceptance is lossless.",
        "cai2024medusa, Section 2.3.1",
        "a chain of 1, V = 2",
        _typical,
        verdict=REFUTED,
        note="lossy by design",
    ),
    every(
        "block-optimal-off-path",
        "block is optimal",
        "every chain, every valid verifier",
        statement="Block verification is optimal among all valid verifiers of one path, also those that "
        "look at probabilities off the path.",
        source="thomas2026multipath, optimality of block verification",
        note="the proof asks nothing of what a verifier may look at",
    ),
)
