"""Systems that claim to keep the law: product rows, HSD on EAGLE-3's trees; and rules with another aim than
p: which stay within their budget.
"""

from collections.abc import Iterator
from itertools import product

from draftproof.proofs_check.claims.checks import by_depth, found_in, refuted_on, searched
from draftproof.proofs_check.claims.topics.hsd_eagle import SMALLEST, VERIFIER
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.laws.enumerate import emission
from draftproof.simulators.laws.verdict import judge
from draftproof.simulators.laws.verdicts.against import judge_against
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.top_k import TopK
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.targets import declared
from draftproof.theory.verifier import Verifier
from draftproof.theory.verifiers import named

TOKEN, BLOCK = named("token"), named("block")


def lossless(case: tuple[Instance, Verifier]) -> bool:
    """Whether one call of the verifier is lossless on the instance."""
    return judge(*case, 1).lossless


def _any_subset() -> Iterator[tuple[Instance, Verifier]]:
    for vocab in (2, 3):
        for instance in Randoms(Chain(3 if vocab == 2 else 2), vocab, 60):
            yield from ((by_depth(instance, first=True), rule) for rule in (TOKEN, BLOCK))


def _kept(instance: Instance) -> bool:
    # Whether the mixture's rule follows its law within its budget.
    law = declared("interpolation")
    return judge_against(instance, law.rule, law).kept


def _within_delta(instance: Instance) -> bool:
    law = declared("cactus:1/20")
    return not judge_against(instance, law.rule, law).over


CHECKS = {
    "assd-first-token": found_in(
        _any_subset, lambda case: lossless(case) and not emission(*case).stopped.get(0)
    ),
    "hsd-eagle-lossless": refuted_on(
        (context_free(["1/3"] * 3, ["1/3"] * 3, TopK(SMALLEST)), VERIFIER), lossless
    ),
    "interpolation-within-budget": searched(_kept, list(product((2, 3), (Chain(1), Chain(2)))), 30),
    "cactus-within-delta": refuted_on(context_free(["1/2", "1/2"], [0, 1], Chain(1)), _within_delta),
}
