"""Block verification of one path: lossless, optimal, its mean, and token and greedy block verification "
"beside it."""

import sympy
import z3

from draftproof.proofs_check.induction.one_node import STEPS
from draftproof.proofs_check.induction.steps import ROWS, Theorem, algebra, always
from draftproof.proofs_check.induction.terms import ONE, least, p, reals
from draftproof.proofs_check.induction.token_level import TAIL

P, B, f, g = sympy.symbols("P B f g", nonnegative=True)
_Q, _b, _f, _g, _p, _q, _r, _t, _w, _rho = reals("Q kept f g p q rho t w rho")


# By induction from the leaf up. Claim at X^i: given X^i, the draft is accepted at or below it with
# probability w_i, and what is then emitted follows the target after X^i. At the leaf h = w and
# Y ~ p. Above, the one-node lemma with a = w_i: child x has w = min(1, w_i p / q), which by the claim
# is the probability that it is accepted at or below, and h_i is the rule's own. At the root w = 1.
BLOCK = Theorem(
    name="block is lossless",
    statement=(
        "Block verification is lossless, with Pr(tau >= l | X^l) = w_l: every vocabulary, depth, p and q, "
        "zeros included."
    ),
    source="sun2025block, Theorem 1 and Algorithm 2",
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
            [_w >= 0, _w <= 1, _r >= 0],
        ),
        *STEPS,
    ),
)

THEOREMS = (
    BLOCK,
    # Let f_l = Pr(tau >= l | X^l = x^l) of a valid verifier, and P, Q the target's and proposal's
    # probability of x^{l-1}. Through x^{l-1} goes the mass P. The part with tau < l - 1, of mass B, has
    # left the draft: it is continued by the target, so x_l gets B p of it. In all x_l must get P p, so the
    # part with tau >= l - 1, of mass Q f_{l-1}, gives it (P - B) p = Q f_{l-1} p; of that Q q f_l is drafted
    # and accepted. Hence f_l <= f_{l-1} p / q, and f_l <= 1: by induction f_l <= w_l.
    Theorem(
        name="block is optimal",
        statement=(
            "Every valid verifier of one path has Pr(tau >= l | X^l) <= w_l, with equality for block "
            "verification; so E[tau] <= sum over x^l of q(x^l) w_l(x^l): every vocabulary and depth."
        ),
        source="sun2025block, optimality of Algorithm 2",
        assumed=(
            "valid: the block completed by the target has the target's joint law; tau < l - 1 leaves the "
            "draft",
            "the bound one position earlier (induction); f_0 = w_0 = 1",
            "equality for block: the theorem 'block is lossless'",
        ),
        steps=(
            algebra(
                "what is still in the draft gives x_l the mass P p - B p = (P - B) p",
                P * p - B * p,
                (P - B) * p,
            ),
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
    ),
    # Pr(tau >= l | X^l) is w_l for block and t_l = min(1, rho_1) .. min(1, rho_l) for token verification:
    # E[tau] differs by the sum over x^l of q(x^l) (w_l - t_l), no term of which is negative.
    Theorem(
        name="block accepts at least as much as token",
        statement=(
            "Block verification never accepts less than token verification: its E[tau] is larger by the sum "
            "over x^l of q(x^l) (w_l - prod min(1, rho_i)), no term of which is negative; at depth 1 all are "
            "0."
        ),
        source="sun2025block, comparison with token verification (appendix)",
        assumed=(
            "E[tau] = sum over l of Pr(tau >= l)",
            "Pr(tau >= l | X^l) = w_l of block: 'block is lossless'",
        ),
        steps=(
            always(
                "w >= t gives min(1, w rho) >= t min(1, rho)",
                least(ONE, _w * _rho) >= _t * least(ONE, _rho),
                [_w >= _t, _t >= 0, _w <= 1, _rho >= 0],
            ),
            always(
                "w_1 = min(1, rho_1) = t_1", least(ONE, ONE * _rho) == ONE * least(ONE, _rho), [_rho >= 0]
            ),
        ),
    ),
    Theorem(
        name="one block is enough",
        statement=(
            "A verifier's output over any number of iterations follows the target if and only if one block, "
            "completed by the target to the draft's depth plus one, does: on chains and on trees."
        ),
        source="sun2025block, Lemma 2; weng2025traversal, Lemma A.1",
        assumed=(
            "iterations look at the text so far only; f(o) is the probability of output o",
            "p(w | o) is the target's probability of going on from o to the word w, g(w | o) that of one "
            "iteration less, completed by the target",
            "fewer iterations go on like the target (induction): g = p",
        ),
        steps=(
            algebra(
                "every output adds f g = f p to w: the sum over outputs stays the one of a single block",
                (f * g).subs(g, p),
                f * p,
            ),
            algebra(
                "and a single iteration, completed, is the case g = p itself", f * p - (f * g).subs(g, p), 0
            ),
        ),
    ),
    Theorem(
        name="mean of block verification",
        statement=(
            "E[tau] of block verification is the sum over words x^l of q(x^l) w_l, carried along as "
            "q w <- min(q(x^l), (q w) p): every vocabulary and depth."
        ),
        source="sun2025block, Algorithm 2 and Lemma 3",
        assumed=(TAIL, *BLOCK.assumed),
        steps=(
            *BLOCK.steps,
            always(
                "Q q min(1, w p / q) = min(Q q, Q w p)",
                _Q * _q * least(ONE, _w * _p / _q) == least(_Q * _q, _Q * _w * _p),
                [_q > 0, _Q >= 0],
            ),
        ),
    ),
    Theorem(
        name="full information is above block verification",
        statement=(
            "The full-information optimum is never below block verification: min(p(x^l), q(x^l)) >= q(x^l) "
            "w_l for every word; every vocabulary and depth."
        ),
        source="sun2025block, greedy block verification (appendix)",
        assumed=("'greedy block verification is optimal', 'mean of block verification'",),
        steps=(
            always(
                "if Q w <= min(P, Q) then min(Q q, Q w p) <= min(P p, Q q)",
                least(_Q * _q, _b * _p) <= least(_t * _p, _Q * _q),
                [_b <= least(_t, _Q), _p >= 0, _q >= 0],
            ),
        ),
    ),
)
