"""Block verification of one path, and token and greedy block verification beside it."""

import sympy
import z3

from draftproof.proofs_check.induction.one_node import STEPS
from draftproof.proofs_check.induction.steps import ROWS, Corollary, Theorem, algebra, always
from draftproof.proofs_check.induction.terms import ONE, least, p, reals
from draftproof.proofs_check.induction.token_level import TAIL

P, B = sympy.symbols("P B", nonnegative=True)
_Q, _b, _f, _g, _p, _q, _r, _t, _w, _rho = reals("Q kept f g p q rho t w rho")
VALID = "every chain, every valid verifier"

# By induction from the leaf up. Claim at X^i: given X^i, the draft is accepted at or below it with
# probability w_i, and what is then emitted follows the target after X^i. At the leaf h = w and
# Y ~ p. Above, the one-node lemma with a = w_i: child x has w = min(1, w_i p / q), which by the claim
# is the probability that it is accepted at or below, and h_i is the rule's own. At the root w = 1.
KEEPS_W = Theorem(
    key="block-keeps-w",
    statement="Given the first l drafted tokens block verification keeps at least l with probability w_l.",
    source="sun2025block, Lemma 3; weng2025traversal, Lemma B.1",
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
            [_w >= 0, _w <= 1, _r >= 0],
        ),
        *STEPS,
    ),
)

THEOREMS = (
    KEEPS_W,
    # Let f_l = Pr(tau >= l | X^l = x^l) of a valid verifier, and P, Q the target's and proposal's
    # probability of x^{l-1}. Through x^{l-1} goes the mass P. The part with tau < l - 1, of mass B, has
    # left the draft: it is continued by the target, so x_l gets B p of it. In all x_l must get P p, so the
    # part with tau >= l - 1, of mass Q f_{l-1}, gives it (P - B) p = Q f_{l-1} p; of that Q q f_l is drafted
    # and accepted. Hence f_l <= f_{l-1} p / q, and f_l <= 1: by induction f_l <= w_l.
    Theorem(
        key="block-optimal",
        statement="In one iteration no valid verifier of one path has more E[tau] than block verification.",
        source="sun2025block, Theorem 2 for one iteration",
        scope=VALID,
        assumed=(
            "valid: the block completed by the target has the target's joint law; tau < l - 1 leaves it",
            "the bound one position earlier (induction); f_0 = w_0 = 1",
            "equality for block: 'block-lossless'",
            "nothing about what a verifier may look at",
        ),
        steps=(
            algebra("the draft still gives x_l the mass P p - B p = (P - B) p", P * p - B * p, (P - B) * p),
            always(
                "Q q f_l <= Q f_{l-1} p gives f_l <= f_{l-1} rho",
                _g <= _f * _p / _q,
                [_Q * _q * _g <= _Q * _f * _p, _Q > 0, _q > 0],
            ),
            always(
                "f_{l-1} <= w_{l-1}, f_l <= f_{l-1} rho and f_l <= 1 give f_l <= min(1, w_{l-1} rho) = w_l",
                _g <= least(ONE, _w * _rho),
                [_f <= _w, _g <= _f * _rho, _g <= 1, _rho >= 0],
            ),
        ),
        corollaries=(
            Corollary(
                "block-bound",
                "In one iteration no valid verifier keeps drafted tokens x^l with more than w_l.",
                "sun2025block, Lemma 4; weng2025traversal, Lemma B.2",
            ),
            Corollary(
                "block-optimal-off-path",
                "In one iteration it stays optimal among verifiers that look at probabilities off the path.",
                "thomas2026multipath, optimality of block verification",
            ),
        ),
    ),
    # Pr(tau >= l | X^l) is w_l for block and t_l = min(1, rho_1) .. min(1, rho_l) for token verification:
    # E[tau] differs by the sum over x^l of q(x^l) (w_l - t_l), no term of which is negative. w_1 = t_1.
    Theorem(
        key="block-above-token",
        statement="Block verification never accepts less than token verification; at depth 1 just as much.",
        source="sun2025block, comparison with token verification (appendix)",
        assumed=(TAIL, "Pr(tau >= l | X^l) = w_l of block: 'block-lossless'; w_1 is also token's"),
        steps=(
            always(
                "w >= t gives min(1, w rho) >= t min(1, rho)",
                least(ONE, _w * _rho) >= _t * least(ONE, _rho),
                [_w >= _t, _t >= 0, _w <= 1, _rho >= 0],
            ),
        ),
        corollaries=(
            Corollary(
                "hsd-above-token",
                "HSD and block verification never accept less than token verification.",
                "zhou2026hsd, Theorem 7, second inequality",
            ),
        ),
    ),
    Theorem(
        key="one-block-is-enough",
        statement="Any number of blocks of a rule without memory follows the target if and only if one "
        "block, completed by the target to the draft's depth plus one, does.",
        source="sun2025block, Lemma 2; weng2025traversal, Lemma A.1",
        scope="every chain and tree",
        assumed=(
            "iterations look at the text so far only; f(o) is the probability of output o",
            "after o the word w has probability p under the target, g under one iteration less, completed",
            "fewer iterations go on like the target (induction): g = p",
            "an output o adds f g to the probability of w, which is f p, the one of a single block",
        ),
    ),
    Theorem(
        key="block-mean",
        statement="E[tau] of block verification is the sum over words x^l of q(x^l) w_l.",
        source="sun2025block, Algorithm 2 and Lemma 3",
        assumed=(TAIL, *KEEPS_W.assumed),
        steps=(
            *KEEPS_W.steps,
            always(
                "it is carried along as Q q min(1, w p / q) = min(Q q, Q w p)",
                _Q * _q * least(ONE, _w * _p / _q) == least(_Q * _q, _Q * _w * _p),
                [_q > 0, _Q >= 0],
            ),
        ),
    ),
    Theorem(
        key="full-information-above-block",
        statement="The full-information optimum is never below block verification, word by word.",
        source="sun2025block, greedy block verification (appendix)",
        assumed=("'greedy-mean', 'block-mean'",),
        steps=(
            always(
                "if Q w <= min(P, Q) then min(Q q, Q w p) <= min(P p, Q q)",
                least(_Q * _q, _b * _p) <= least(_t * _p, _Q * _q),
                [_b <= least(_t, _Q), _p >= 0, _q >= 0],
            ),
        ),
    ),
)
