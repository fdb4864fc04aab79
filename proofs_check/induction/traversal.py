"""Traversal Verification is lossless on every tree; a subtree of rate a is accepted with probability a.

By induction on the subtree and the siblings left. Claim: a node with rate a and row p, whatever
the laws of its children still to come, is accepted at or below it with probability a, and what is
emitted then follows p and the target. No child left: accepted with a, Y ~ p. Otherwise the first
child x ~ q has rate min(1, a p / q), which by the claim is its total acceptance; rejected, whichever
x it was, the node has row p' = norm((a p - q)+) and rate a' = S / (S + 1 - a), and the claim
holds for those and the children left. Without replacement their laws depend on x; the claim is for
every law.
"""

from draftproof.proofs_check.induction.accepting import STEPS, S
from draftproof.proofs_check.induction.steps import (
    ROWS,
    Theorem,
    a,
    algebra,
    always,
    every_token,
    meet,
    p,
    pos,
    q,
    reals,
)

_s = reals("s s_")[0]

THEOREM = Theorem(
    name="traversal is lossless",
    statement=(
        "Traversal Verification emits the target's law and accepts a subtree of rate a with total "
        "probability a: every tree, vocabulary, p and q, zeros included, with and without "
        "replacement, in drawing order."
    ),
    source="weng2025traversal, Algorithm 3",
    verifiers=("traversal",),
    assumed=(
        ROWS,
        "each sibling is drawn from the row q that the rule divides by, and then tried in drawing order",
        "the claim for smaller subtrees and fewer siblings (induction); a leaf: its rate, Y ~ p",
    ),
    steps=(
        *STEPS,
        algebra(
            "the siblings left add (S + 1 - a) a' p' = (a p - q)+",
            (S + 1 - a) * (S / (S + 1 - a)) * (pos(a * p - q) / S),
            pos(a * p - q),
        ),
        every_token("token x gets min(a p, q) + (a p - q)+ = a p", meet(a * p, q) + pos(a * p - q), a * p),
        always("the root's rate stays 1: S / (S + 1 - 1)", _s / (_s + 1 - 1) == 1, _s > 0),
    ),
)
