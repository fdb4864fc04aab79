"""Which verifiers emit the target's law."""

from proofs_check.claims.claim import (
    EVERY,
    REFUTED,
    SIZES,
    Claim,
    by_induction,
    is_lossless,
    lossless,
    searched,
)
from simulators.instances.randoms import Randoms
from simulators.instances.scenarios import Scenarios
from theory.drafts.chain import Chain
from theory.drafts.greedy import Greedy
from theory.drafts.paths import Paths
from theory.drafts.shape import every
from theory.drafts.spechub import SpecHub
from theory.drafts.tree import Tree

CHAINS = [(2, Chain(1)), (3, Chain(1)), (2, Chain(2))]
CHAIN_SIZES = "chains, (V, depth) = (2,1), (3,1), (2,2)"


def _every(key: str, name: str, statement: str, source: str, scope: str, note: str = "") -> Claim:
    return Claim(key, statement, source, scope, EVERY, 0.1, by_induction(name), note)


def _sizes(key: str, verifier: str, statement: str, source: str, scope: str, seconds: float, *cases) -> Claim:
    return Claim(key, statement, source, scope, SIZES, seconds, lossless(verifier, *cases))


def _k_seq() -> list:
    pairs = [Tree(every(2, 1), True), Chain(1)]
    return [
        each
        for scheme in pairs
        for vocab in (2, 3)
        for each in (*Scenarios(scheme, vocab), *Randoms(scheme, vocab, 100))
    ]


CLAIMS = (
    _every(
        "token-lossless",
        "token is lossless",
        "Token verification is lossless.",
        "leviathan2023fast, Algorithm 1; chen2023accelerating",
        "every chain",
    ),
    _every(
        "block-lossless",
        "block is lossless",
        "Block verification is lossless, and given the first l drafted tokens it keeps at "
        "least l with probability w_l.",
        "sun2025block, Algorithm 2",
        "every chain",
    ),
    _every(
        "hsd-is-block",
        "hsd is block",
        "HSD as its paper writes it equals block verification in every probability it uses, "
        "hence is lossless.",
        "zhou2026hsd, Algorithm 2, Equations 19-20",
        "every chain",
        "its Theorem 7, more accepted than block with equality only at depth 1, is therefore "
        "always an equality",
    ),
    _every(
        "recursive-lossless",
        "recursive rejection is lossless",
        "Recursive rejection is lossless, with replacement (SpecInfer) and without (RSD, "
        "MCSD), in drawing order.",
        "miao2024specinfer, Algorithm 2; jeon2024recursive, Algorithm 1; yang2024multicandidate",
        "every tree",
    ),
    _every(
        "traversal-lossless",
        "traversal is lossless",
        "Traversal Verification is lossless, and a subtree of rate a is kept with total probability a.",
        "weng2025traversal, Algorithm 3",
        "every tree, both ways of drawing",
    ),
    _every(
        "lift-lossless",
        "the lift is lossless",
        "Lifting any valid single-step rule from leaves to root gives a lossless tree verifier.",
        "our derivation",
        "every tree and rule",
    ),
    Claim(
        "hsd-released-lossless",
        "HSD as released, with the uncapped joint ratio at the leaf, is lossless.",
        "zhou2026hsd, Listing 2 and repository",
        "a chain of 2, V = 2",
        REFUTED,
        0.5,
        lossless("hsd-released", (2, Chain(2))),
        "p = (1/2, 1/2) and q = (1/3, 2/3) everywhere",
    ),
    Claim(
        "hsd-multidraft-released-lossless",
        "Multi-draft HSD as released, which carries the joint ratio over a stop, is lossless.",
        "zhou2026hsd, repository",
        "a chain of 2, V = 2",
        REFUTED,
        0.5,
        lossless("hsd-multidraft-released", (2, Chain(2))),
        "one path suffices: its full path is kept with the uncapped ratio",
    ),
    _sizes(
        "hsd-multidraft-lossless",
        "hsd-multidraft",
        "Multi-draft HSD with the ratio restarted after a stop and the leaf capped is lossless.",
        "zhou2026hsd, multi-draft, corrected by us",
        "V = 2: a chain of 2, two paths of 1 and of 2",
        8.0,
        (2, Chain(2)),
        (2, Paths(2, 1)),
        (2, Paths(2, 2)),
    ),
    _sizes(
        "naive-tree-lossless",
        "naive-tree",
        "Token verification of the first child, landing on a drafted sibling where it can, is lossless.",
        "thomas2026delayed, NaiveTree",
        f"{CHAIN_SIZES}; pairs at V = 2, 3",
        2.0,
        *CHAINS,
        *[(vocab, Tree(every(2, 1), with_)) for vocab in (2, 3) for with_ in (False, True)],
    ),
    _sizes(
        "nss-lossless",
        "nss",
        "Naive speculative sampling is lossless.",
        "miao2024specinfer, naive sampling",
        f"{CHAIN_SIZES}; pairs at V = 2, 3",
        1.0,
        *CHAINS,
        *[(vocab, Tree(every(2, 1), with_)) for vocab in (2, 3) for with_ in (False, True)],
    ),
    _sizes(
        "one-hot-lossless",
        "one-hot",
        "The one-hot rule of EAGLE-2 is lossless, also on sampled drafts.",
        "li2024eagle2, evaluate_posterior",
        f"{CHAIN_SIZES}; pairs at V = 2, 3",
        1.0,
        *CHAINS,
        *[(vocab, Tree(every(2, 1), with_)) for vocab in (2, 3) for with_ in (False, True)],
    ),
    _sizes(
        "sampling-match-lossless",
        "sampling-match",
        "Sampling-match is lossless.",
        "kwon2023vllm, drafts without probabilities",
        CHAIN_SIZES,
        0.5,
        *CHAINS,
    ),
    _sizes(
        "hu-greedy-lossless",
        "hu-greedy",
        "The rule for the top n-1 tokens and one sample is lossless.",
        "hu2025towards, greedy draft",
        "n = 2 at V = 2 and 3",
        2.0,
        (2, Greedy(every(2, 1))),
        (3, Greedy(every(2, 1))),
    ),
    _sizes(
        "spechub-lossless",
        "spechub",
        "SpecHub is lossless.",
        "sun2024spechub, Algorithm 1",
        "depth 1 at V = 2 and 3",
        8.0,
        (2, SpecHub(1)),
        (3, SpecHub(1)),
    ),
    _sizes(
        "multipath-block-lossless",
        "multipath-block",
        "Greedy multi-path block verification is lossless.",
        "thomas2026multipath",
        "V = 2: a chain of 2, two paths of 1",
        6.0,
        (2, Chain(2)),
        (2, Paths(2, 1)),
    ),
    Claim(
        "k-seq-lossless",
        "K-SEQ is lossless, with rho a rational above its algebraic optimum.",
        "sun2023spectr, Algorithm 2",
        "chains of 1 and pairs with replacement, V = 2 and 3",
        "no counterexample in 472 exact instances",
        2.0,
        searched(_k_seq, is_lossless("k-seq")),
        "its bisection for rho is outside what sign-cell proofs run",
    ),
)
