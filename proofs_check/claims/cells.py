"""Losslessness by sign cells, and by search where cells are too many."""

from collections.abc import Callable

from draftproof.proofs_check.claims.checks import PAIR, WITH, WITHOUT, Case, Lossless, chains, searched
from draftproof.proofs_check.claims.claim import REFUTED, Claim, unrefuted
from draftproof.proofs_check.prove import prove
from draftproof.simulators.laws.verdict import judge
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.instance import Instance
from draftproof.theory.verifiers import named

Sizes = tuple[str, list[Case]]  # some sizes in words, and as cases

PAIRS: list[Case] = [(2, WITHOUT), (2, WITH)]
TWO: Sizes = "V = 2: pairs with and without replacement", PAIRS
ONE: Sizes = "V = 2: a chain of 1, pairs with and without replacement", [*chains(2, 1), *PAIRS]
SHORT: Sizes = "chains, (V, depth) = (2,1), (2,2)", chains(2, 1, 2)
IID: Sizes = "V = 2: a pair with replacement", PAIRS[1:]
CHAINS: Sizes = "chains, (V, depth) = (2,1), (3,1), (2,2)", [*chains(2, 1, 2), (3, Chain(1))]
GREEDY: Sizes = "n = 2 at V = 2 and 3", [(2, Greedy(PAIR)), (3, Greedy(PAIR))]

SHAPED = "draftproof, docs/findings.md"
BY_CELLS: tuple[tuple[str, str, str, float, Sizes], ...] = (
    ("sampling-match", "Sampling-match", "kwon2023vllm, drafts without probabilities", 2, CHAINS),
    ("hu-greedy", "The greedy draft's rule", "hu2025towards, greedy draft", 4, GREEDY),
    ("optimal-transport", "Optimal transport with a max flow's plan", "sun2023spectr, Section 3", 2, ONE),
    ("khisti", "Selection with a max flow's weights", "khisti2025multidraft, Theorem 1", 2, TWO),
    ("shaped-block", "Shaped block verification", SHAPED, 25, SHORT),
)
"""(verifier, what it is, source, seconds, sizes)."""


def _search(verifier: str, *schemes: Scheme, count: int) -> Callable[[], str]:
    def holds(instance: Instance) -> bool:
        return judge(instance, named(verifier)).lossless

    return searched(holds, schemes, (2, 3), count)


CLAIMS = (
    *(
        Claim(f"{rule}-by-cells", f"{name} is lossless.", source, scope, proof, seconds=seconds)
        for rule, name, source, seconds, (scope, cases) in BY_CELLS
        for proof in [Lossless(rule, *cases)]
    ),
    Claim(
        "typical-lossless",
        "Medusa's typical acceptance is lossless.",
        "cai2024medusa, Section 2.3.1",
        "a chain of 1, V = 2",
        lambda: prove(named("typical"), Chain(1), 2).verdict,
        REFUTED,
        note="lossy by design",
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
        "GLS is lossless on pairs with replacement and on chains of 2.",
        "rowan2025list, Gumbel-max list sampling",
        "a pair and a chain of 2, V = 2 and 3",
        _search("gls", WITH, Chain(2), count=100),
        unrefuted(472),
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
        "Greedy multi-path block verification is lossless on two paths of 2 and on three of 1.",
        "thomas2026multipath, greedy multi-path block verification",
        "two paths of 2 and three of 1, V = 2 and 3",
        _search("multipath-block", Paths(2, 2), Paths(3, 1), count=20),
        unrefuted(152),
        seconds=10,
    ),
)
