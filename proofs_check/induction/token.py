"""Token verification is lossless for every vocabulary and depth.

By induction on the tokens still drafted. Claim: after an accepted prefix, what is emitted follows
the target. Nothing drafted: Y ~ p. Otherwise the one-node lemma with a = 1, where a child is kept
with min(1, p / q) and then, by the claim, followed by its own target's law.
"""

from draftproof.proofs_check.induction.accepting import STEPS, S
from draftproof.proofs_check.induction.steps import ROWS, Theorem, a, algebra, meet, p, pos, q, summed, total

THEOREM = Theorem(
    name="token is lossless",
    statement="Token verification emits the target's law: every vocabulary, depth, p and q, zeros included.",
    source="leviathan2023fast, Algorithm 1; chen2023accelerating",
    verifiers=("token",),
    assumed=(
        ROWS,
        "the claim for one token less (induction); with no drafted token Y ~ p by definition",
        "the emitted block is continued by the target itself",
    ),
    steps=(
        *STEPS,
        summed("at a = 1 the mass rejected is sum (p - q)+, so h = 1", q - meet(p, q), total(pos(p - q))),
        algebra("the general lemma at a = 1 is this case", (S + 1 - a).subs(a, 1), S.subs(a, 1)),
    ),
)
