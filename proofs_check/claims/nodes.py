"""Losslessness of the rules that judge a node or a tree: baselines, single-step rules, lifts."""

from collections.abc import Callable, Iterator

from proofs_check.claims.claim import (
    REFUTED,
    SIZES,
    Claim,
    by_induction,
    chains,
    every,
    is_lossless,
    lossless,
    searched,
    unrefuted,
)
from proofs_check.prove import prove
from simulators.instances.randoms import Randoms
from simulators.instances.scenarios import Scenarios
from theory.drafts import Scheme
from theory.drafts.chain import Chain
from theory.drafts.greedy import Greedy
from theory.drafts.paths import Paths
from theory.drafts.shape import every as full
from theory.drafts.spechub import SpecHub
from theory.drafts.tree import Tree
from theory.instance import Instance
from theory.verifiers import named

PAIR = full(2, 1)
PAIRS = [(2, Tree(PAIR, with_)) for with_ in (False, True)]
ALL_PAIRS = [(vocab, Tree(PAIR, with_)) for vocab in (2, 3) for with_ in (False, True)]
CHAINS = [*chains(2, 1, 2), (3, Chain(1))]
CHAIN_SIZES = "chains, (V, depth) = (2,1), (3,1), (2,2)"
NODE = "every tree and path"


def _sizes(key: str, verifier: str, statement: str, source: str, scope: str, seconds: float, *cases) -> Claim:
    return Claim(key, statement, source, scope, SIZES, seconds, lossless(verifier, *cases))


def _drawn(schemes: tuple[Scheme, ...], count: int) -> Callable[[], Iterator[Instance]]:
    def instances() -> Iterator[Instance]:
        for scheme in schemes:
            for vocab in (2, 3):
                yield from Scenarios(scheme, vocab)
                yield from Randoms(scheme, vocab, count)

    return instances


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
        "layered-lossless",
        "layered is lossless",
        "Layered transport is lossless whatever its plan.",
        "draftproof, docs/layered.md",
        "every tree, chain and set of paths",
    ),
    _sizes(
        "node-rules-by-cells",
        "naive-tree",
        "NaiveTree by sign cells.",
        "thomas2026delayed, NaiveTree",
        f"{CHAIN_SIZES}; pairs at V = 2, 3",
        5,
        *CHAINS,
        *ALL_PAIRS,
    ),
    _sizes(
        "nss-by-cells",
        "nss",
        "Naive speculative sampling by sign cells.",
        "miao2024specinfer, naive sampling",
        f"{CHAIN_SIZES}; pairs at V = 2, 3",
        2,
        *CHAINS,
        *ALL_PAIRS,
    ),
    _sizes(
        "one-hot-by-cells",
        "one-hot",
        "The one-hot rule by sign cells.",
        "li2024eagle2, evaluate_posterior",
        f"{CHAIN_SIZES}; pairs at V = 2, 3",
        2,
        *CHAINS,
        *ALL_PAIRS,
    ),
    _sizes(
        "sampling-match-by-cells",
        "sampling-match",
        "Sampling-match by sign cells.",
        "kwon2023vllm, drafts without probabilities",
        CHAIN_SIZES,
        2,
        *CHAINS,
    ),
    _sizes(
        "hu-greedy-by-cells",
        "hu-greedy",
        "The greedy draft's rule by sign cells.",
        "hu2025towards, greedy draft",
        "n = 2 at V = 2 and 3",
        4,
        (2, Greedy(PAIR)),
        (3, Greedy(PAIR)),
    ),
    _sizes(
        "spechub-lossless",
        "spechub",
        "SpecHub is lossless.",
        "sun2024spechub, Algorithm 1",
        "depth 1 at V = 2 and 3",
        10,
        (2, SpecHub(1)),
        (3, SpecHub(1)),
    ),
    _sizes(
        "gls-lossless",
        "gls",
        "GLS, whose drafts and target token win races on shared noise, is lossless.",
        "rowan2025list, Gumbel-max list sampling",
        "V = 2: a chain of 1, a pair with replacement",
        3,
        (2, Chain(1)),
        (2, Tree(PAIR, True)),
    ),
    Claim(
        "gls-lossless-search",
        "GLS is lossless at larger sizes.",
        "rowan2025list, Gumbel-max list sampling",
        "a pair and a chain of 2, V = 2 and 3",
        unrefuted(472),
        5,
        searched(_drawn((Tree(PAIR, True), Chain(2)), 100), is_lossless("gls")),
    ),
    _sizes(
        "optimal-transport-by-cells",
        "optimal-transport",
        "Optimal transport with the max flow's own plan, by sign cells.",
        "sun2023spectr, Section 3",
        "V = 2: a chain of 1, pairs with and without replacement",
        2,
        (2, Chain(1)),
        *PAIRS,
    ),
    _sizes(
        "khisti-by-cells",
        "khisti",
        "The canonical decomposition with the max flow's weights, by sign cells.",
        "khisti2025multidraft, Theorem 1",
        "V = 2: pairs with and without replacement",
        2,
        *PAIRS,
    ),
    _sizes(
        "lifted-by-cells",
        "lifted",
        "The lift of optimal transport, by sign cells.",
        "our derivation; docs/layered.md",
        "V = 2: chains of 1 and 2, pairs with and without replacement",
        20,
        *chains(2, 1, 2),
        *PAIRS,
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
    _sizes(
        "multipath-block-lossless",
        "multipath-block",
        "Greedy multi-path block verification is lossless.",
        "thomas2026multipath, greedy multi-path block verification",
        "V = 2: a chain of 2, two paths of 1",
        8,
        (2, Chain(2)),
        (2, Paths(2, 1)),
    ),
    Claim(
        "multipath-block-lossless-search",
        "Greedy multi-path block verification is lossless with three paths, and deeper.",
        "thomas2026multipath, greedy multi-path block verification",
        "two paths of 2 and three of 1, V = 2 and 3",
        unrefuted(152),
        10,
        searched(_drawn((Paths(2, 2), Paths(3, 1)), 20), is_lossless("multipath-block")),
    ),
    Claim(
        "block-optimal-off-path",
        "Block verification is optimal among all valid verifiers of one path, also those that look at "
        "probabilities off the path.",
        "thomas2026multipath, optimality of block verification",
        "every chain, every valid verifier",
        "proved for every vocabulary and depth",
        1,
        by_induction("block is optimal"),
        "the proof asks nothing of what a verifier may look at",
    ),
)
