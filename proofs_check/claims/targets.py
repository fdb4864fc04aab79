"""Rules with another aim than p: which stay within their budget."""

from draftproof.proofs_check.claims.checks import refuted_on, searched
from draftproof.simulators.laws.against import judge_against
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.targets import declared


def _kept(instance: Instance) -> bool:
    """Whether the mixture's rule follows its law within its budget."""
    law = declared("interpolation")
    return judge_against(instance, law.rule, law).kept


def _within_delta(instance: Instance) -> bool:
    law = declared("cactus:1/20")
    return not judge_against(instance, law.rule, law).over


CHECKS = {
    "interpolation-within-budget": searched(_kept, [Chain(1), Chain(2)], (2, 3), 30),
    "cactus-within-delta": refuted_on(context_free(["1/2", "1/2"], [0, 1], Chain(1)), _within_delta),
}
