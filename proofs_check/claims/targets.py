"""Rules with another aim than p: which follow their own law, and which stay within their budget."""

from dataclasses import dataclass

from draftproof.proofs_check.claims.checks import SECONDS, chains, refuted_on, searched
from draftproof.proofs_check.claims.claim import CELLS, REFUTED, SIZES, Claim, unrefuted
from draftproof.proofs_check.prove import prove
from draftproof.simulators.laws.against import judge_against
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.targets import TARGETS, declared


@dataclass(frozen=True)
class Follows:
    """Proves by sign cells that a rule emits the law that it declares."""

    name: str
    behind = CELLS

    def __call__(self) -> str:
        law = declared(self.name)
        for vocab, chain in (*chains(2, 1, 2), *chains(3, 1)):
            verdict = prove(law.rule, chain, vocab, SECONDS, law=law).verdict
            if verdict != "proved":
                return verdict
        return SIZES


def _kept(instance: Instance) -> bool:
    """Whether the mixture's rule follows its law within its budget."""
    law = declared("interpolation")
    return judge_against(instance, law.rule, law).kept


def _within_delta(instance: Instance) -> bool:
    law = declared("cactus:1/20")
    return not judge_against(instance, law.rule, law).over


LAWS = {
    "interpolation": "The mixture (1 - a) p + a q",
    "diverse": "A mixture whose weight depends on the context",
    "cascade-opt": "The speculative cascade with the rule OPT",
    "cascade-token": "The speculative cascade with the token rule V3",
}
"""Declared law -> it in words."""

CLAIMS = (
    *(
        Claim(
            f"{name}-own-law",
            f"{words}: token verification of its rows emits it at every drafted token.",
            TARGETS[name].source,
            "chains of 1 and 2 at V = 2, chains of 1 at V = 3",
            Follows(name),
            seconds=25 if name == "cascade-opt" else 3,
        )
        for name, words in LAWS.items()
    ),
    Claim(
        "interpolation-within-budget",
        "The tokens of token verification of (1 - a) p + a q have TV at most a TV(p, q) from p.",
        TARGETS["interpolation"].source,
        "chains of 1 and 2, V = 2 and 3",
        searched(_kept, [Chain(1), Chain(2)], (2, 3), 30),
        unrefuted(192),
        seconds=2,
    ),
    Claim(
        "cactus-within-delta",
        "Cactus' tokens have KL(emitted, target) at most delta.",
        "hao2026cactus, the constraint of its optimisation",
        "delta = 1/20, one drafted token, V = 2",
        refuted_on(context_free(["1/2", "1/2"], [0, 1], Chain(1)), _within_delta),
        REFUTED,
        note="p even, q = (0, 1): token 1 with 0.658, a divergence of 0.0509. The budget is for a row of "
        "each drafted token, to leading order, and not for the law that comes out",
    ),
)
