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
        "Naive speculative sampling is lossless.",
        "miao2024specinfer, naive sampling",
        "every draft",
    ),
    every(
        "sampling-match-lossless",
        "drawing from the target is lossless",
        "Sampling-match is lossless.",
        "kwon2023vllm, drafts without probabilities",
    ),
    every(
        "one-hot-lossless",
        "the one-hot rule is lossless",
        "The one-hot rule of EAGLE-2 is lossless, also on sampled drafts.",
        "li2024eagle2, evaluate_posterior",
        "every draft",
    ),
    every(
        "naive-tree-lossless",
        "one judged draft is lossless",
        "Token verification of the first child, landing on a drafted sibling where it can, is lossless.",
        "thomas2026delayed, NaiveTree",
        NODE,
    ),
    every(
        "hu-greedy-lossless",
        "one judged draft is lossless",
        "The rule for the top n-1 tokens and one sample is lossless.",
        "hu2025towards, greedy draft",
        "every greedy draft",
    ),
    every(
        "khisti-lossless",
        "one judged draft is lossless",
        "Selecting a draft by importance weights and verifying it as a single one is lossless for all "
        "weights.",
        "khisti2025multidraft, Theorem 1",
        NODE,
    ),
    every(
        "global-resolution-lossless",
        "one judged draft is lossless",
        "Global Resolution, with its float solution judged by its exact law, is lossless.",
        "thomas2026global, global resolution for i.i.d. drafts",
        NODE,
    ),
    every(
        "optimal-transport-lossless",
        "plans are lossless",
        "Every plan of the membership-cost transport problem gives a lossless rule.",
        "sun2023spectr, Section 3",
        NODE,
    ),
    every(
        "k-seq-lossless",
        "k-seq is lossless",
        "K-SEQ is lossless for every rho that satisfies its condition, and rho = k does.",
        "sun2023spectr, Algorithm 2",
        "i.i.d. siblings",
        "rho is a free parameter of the proof; the algebraic rho* and the multiple of 1/1024 above it are "
        "cases",
    ),
    every(
        "lift-lossless",
        "the lift is lossless",
        "Lifting any valid single-step rule from leaves to root gives a lossless tree verifier.",
        "our derivation",
        "every tree and rule",
    ),
    every(
        "lifted-k-seq-lossless",
        "the lift of k-seq is lossless",
        "The lift of K-SEQ is lossless for every rho that satisfies K-SEQ's condition on the node's own row.",
        "draftproof, docs/layered.md",
        "i.i.d. siblings",
    ),
    every(
        "layered-lossless",
        "layered is lossless",
        "Layered transport is lossless whatever its plan.",
        "draftproof, docs/layered.md",
        "every tree, chain and set of paths",
    ),
    Claim(
        "typical-lossless",
        "Medusa's typical acceptance is lossless.",
        "cai2024medusa, Section 2.3.1",
        "a chain of 1, V = 2",
        REFUTED,
        1,
        _typical,
        "lossy by design",
    ),
    every(
        "block-optimal-off-path",
        "block is optimal",
        "Block verification is optimal among all valid verifiers of one path, also those that look at "
        "probabilities off the path.",
        "thomas2026multipath, optimality of block verification",
        "every chain, every valid verifier",
        "the proof asks nothing of what a verifier may look at",
    ),
)
