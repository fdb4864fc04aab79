"""Recursive rejection is lossless on every tree, with and without replacement.

By induction on the siblings still to try and the depth below. Claim: with current row p, whatever
the laws of the siblings still to come, what is emitted at and below the node follows p first and
then the target. No sibling left: Y ~ p. Otherwise the first, x ~ q, is accepted with mass min(p, q)
and followed by its target's law (claim one level down); else, whichever x was rejected, the row is
p' = norm((p - q)+) and the claim holds for p' and the siblings left. Without replacement their laws
depend on x, but the claim is for every such law, and p' does not depend on x.
"""

from draftproof.proofs_check.induction.accepting import STEPS
from draftproof.proofs_check.induction.steps import (
    ROWS,
    Theorem,
    algebra,
    always,
    every_token,
    meet,
    p,
    pos,
    q,
    reals,
    summed,
    total,
)

D = total(pos(p - q))

_d, _e = reals("D e")

THEOREM = Theorem(
    name="recursive rejection is lossless",
    statement=(
        "Recursive rejection, with replacement (specinfer) and without (rrs), emits the target's law: every "
        "tree, vocabulary, p and q, zeros included, in drawing order."
    ),
    source="miao2024specinfer, Algorithm 2; jeon2024recursive, Algorithm 1; yang2024multicandidate",
    verifiers=("specinfer", "rrs"),
    assumed=(
        ROWS,
        "each sibling is drawn from the row q that the rule divides by, and then tried in drawing order",
        "the claim for fewer siblings and for less depth (induction); with none left Y ~ p by definition",
    ),
    steps=(
        *STEPS[:2],
        summed("the mass rejected is 1 - sum min(p, q) = D = sum (p - q)+", q - meet(p, q), D),
        algebra(
            "if D is not 0, what follows gives token x the mass D p' = (p - q)+",
            D * (pos(p - q) / D),
            pos(p - q),
        ),
        always(
            "if D = 0 nothing is rejected, and no token has excess",
            _e == 0,
            _e >= 0,
            _d >= _e,
            _d == 0,
        ),
        every_token("token x gets min(p, q) + (p - q)+ = p in all", meet(p, q) + pos(p - q), p),
        summed("p' has mass D / D: it is a row again", pos(p - q), D),
    ),
)
