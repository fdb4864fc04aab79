"""Losslessness by sign cells, and by search where cells are too many, beside the induction proofs."""

from collections.abc import Callable, Iterator

from draftproof.proofs_check.claims.claim import (
    SIZES,
    Claim,
    Lossless,
    chains,
    is_lossless,
    searched,
    unrefuted,
)
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.shape import every as full
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance

PAIR = full(2, 1)
PAIRS = [(2, Tree(PAIR, with_)) for with_ in (False, True)]
ALL_PAIRS = [(vocab, Tree(PAIR, with_)) for vocab in (2, 3) for with_ in (False, True)]
CHAINS = [*chains(2, 1, 2), (3, Chain(1))]
CHAIN_SIZES = "chains, (V, depth) = (2,1), (3,1), (2,2)"


def _sizes(key: str, verifier: str, statement: str, source: str, scope: str, seconds: float, *cases) -> Claim:
    return Claim(key, statement, source, scope, SIZES, seconds, Lossless(verifier, *cases))


def _drawn(schemes: tuple[Scheme, ...], count: int) -> Callable[[], Iterator[Instance]]:
    def instances() -> Iterator[Instance]:
        for scheme in schemes:
            for vocab in (2, 3):
                yield from Scenarios(scheme, vocab)
                yield from Randoms(scheme, vocab, count)

    return instances


CLAIMS = (
    _sizes(
        "naive-tree-by-cells",
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
)
