"""Losslessness by sign cells, and by search where cells are too many, beside the induction proofs."""

from draftproof.proofs_check.claims.claim import (
    PAIR,
    WITH,
    WITHOUT,
    Case,
    Claim,
    Lossless,
    chains,
    is_lossless,
    searched,
    unrefuted,
)
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.spechub import SpecHub

PAIRS: list[Case] = [(2, WITHOUT), (2, WITH)]
CHAINS = [*chains(2, 1, 2), (3, Chain(1))]
CHAIN_SIZES = "chains, (V, depth) = (2,1), (3,1), (2,2)"
SMALL = [*CHAINS, *PAIRS, (3, WITHOUT), (3, WITH)]
SMALL_SIZES = f"{CHAIN_SIZES}; pairs at V = 2, 3"
PAIR_SIZES = "V = 2: pairs with and without replacement"
GREEDY: list[Case] = [(2, Greedy(PAIR)), (3, Greedy(PAIR))]
WITH_CHAIN = "V = 2: a chain of 1, pairs with and without replacement"
WITH_CHAINS = "V = 2: chains of 1 and 2, pairs with and without replacement"

BY_CELLS: tuple[tuple[str, str, str, str, float, list[Case]], ...] = (
    ("naive-tree", "NaiveTree", "thomas2026delayed, NaiveTree", SMALL_SIZES, 5, SMALL),
    ("nss", "Naive speculative sampling", "miao2024specinfer, naive sampling", SMALL_SIZES, 2, SMALL),
    ("one-hot", "The one-hot rule", "li2024eagle2, evaluate_posterior", SMALL_SIZES, 2, SMALL),
    (
        "sampling-match",
        "Sampling-match",
        "kwon2023vllm, drafts without probabilities",
        CHAIN_SIZES,
        2,
        CHAINS,
    ),
    (
        "hu-greedy",
        "The greedy draft's rule",
        "hu2025towards, greedy draft",
        "n = 2 at V = 2 and 3",
        4,
        GREEDY,
    ),
    (
        "optimal-transport",
        "Optimal transport with the max flow's own plan,",
        "sun2023spectr, Section 3",
        WITH_CHAIN,
        2,
        [*chains(2, 1), *PAIRS],
    ),
    (
        "khisti",
        "The canonical decomposition with the max flow's weights,",
        "khisti2025multidraft, Theorem 1",
        PAIR_SIZES,
        2,
        PAIRS,
    ),
    (
        "lifted",
        "The lift of optimal transport,",
        "our derivation; docs/layered.md",
        WITH_CHAINS,
        20,
        [*chains(2, 1, 2), *PAIRS],
    ),
)
"""(verifier, what it is, source, scope, seconds, cases) of proofs that an induction proof exists for too."""

CLAIMS = (
    *(
        Claim(f"{verifier}-by-cells", f"{name} by sign cells.", source, scope, proof, seconds=seconds)
        for verifier, name, source, scope, seconds, cases in BY_CELLS
        for proof in [Lossless(verifier, *cases)]
    ),
    Claim(
        "spechub-lossless",
        "SpecHub is lossless.",
        "sun2024spechub, Algorithm 1",
        "depth 1 at V = 2 and 3",
        Lossless("spechub", (2, SpecHub(1)), (3, SpecHub(1))),
        seconds=10,
    ),
    Claim(
        "gls-lossless",
        "GLS, whose drafts and target token win races on shared noise, is lossless.",
        "rowan2025list, Gumbel-max list sampling",
        "V = 2: a chain of 1, a pair with replacement",
        Lossless("gls", (2, Chain(1)), (2, WITH)),
        seconds=3,
    ),
    Claim(
        "gls-lossless-search",
        "GLS is lossless at larger sizes.",
        "rowan2025list, Gumbel-max list sampling",
        "a pair and a chain of 2, V = 2 and 3",
        searched(is_lossless("gls"), (WITH, Chain(2)), (2, 3), 100),
        verdict=unrefuted(472),
        seconds=5,
    ),
    Claim(
        "multipath-block-lossless",
        "Greedy multi-path block verification is lossless.",
        "thomas2026multipath, greedy multi-path block verification",
        "V = 2: a chain of 2, two paths of 1",
        Lossless("multipath-block", (2, Chain(2)), (2, Paths(2, 1))),
        seconds=8,
    ),
    Claim(
        "multipath-block-lossless-search",
        "Greedy multi-path block verification is lossless with three paths, and deeper.",
        "thomas2026multipath, greedy multi-path block verification",
        "two paths of 2 and three of 1, V = 2 and 3",
        searched(is_lossless("multipath-block"), (Paths(2, 2), Paths(3, 1)), (2, 3), 20),
        verdict=unrefuted(152),
        seconds=10,
    ),
)
