"""Block verification is lossless for every vocabulary and depth, and Pr(tau >= l | X^l) = w_l.

By induction from the leaf up. Claim at X^i: given X^i, the draft is accepted at or below it with
probability w_i, and what is then emitted follows the target after X^i. At the leaf h = w and
Y ~ p. Above, the one-node lemma with a = w_i: child x has w = min(1, w_i p / q), which by the claim
is the probability that it is accepted at or below, and h_i is the rule's own. At the root w = 1.
"""

import z3

from draftproof.proofs_check.induction.accepting import STEPS
from draftproof.proofs_check.induction.steps import ONE, ROWS, Theorem, always, least, reals

_w, _r = reals("w rho")

THEOREM = Theorem(
    name="block is lossless",
    statement=(
        "Block verification emits the target's law, and Pr(tau >= l | X^l) = w_l: every vocabulary, "
        "depth, p and q, zeros included."
    ),
    source="sun2025block, Algorithm 2",
    verifiers=("block",),
    assumed=(
        ROWS,
        "the claim for the children (induction); at the leaf h = w and Y ~ p by definition",
        "the coins u_i are independent of each other and of the draft",
        "the emitted block is continued by the target itself",
    ),
    steps=(
        always(
            "w stays in [0, 1]",
            z3.And(least(ONE, _w * _r) >= 0, least(ONE, _w * _r) <= 1),
            _w >= 0,
            _w <= 1,
            _r >= 0,
        ),
        *STEPS,
    ),
)
