"""What no verifier of one path exceeds, and block, token and greedy block verification compared."""

import sympy

from draftproof.proofs_check.induction.steps import Corollary, Theorem, algebra, always
from draftproof.proofs_check.induction.terms import ONE, least, p, reals

P, B = sympy.symbols("P B", nonnegative=True)
_Q, _b, _f, _g, _p, _q, _r, _t, _w, _rho = reals("Q kept f g p q rho t w rho")
VALID = "every chain, every valid verifier"
TAIL = "E[tau] = sum over l of Pr(tau >= l), a sum over the words x^l"

THEOREMS = (
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
        keeps=("block",),
        assumed=(
            "valid: the block completed by the target has the target's joint law; tau < l - 1 leaves it",
            "the bound one position earlier (induction); f_0 = w_0 = 1",
            "equality for block: 'block-keeps-w'",
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
        keeps=("token", "block", "hsd"),
        assumed=(TAIL, "Pr(tau >= l | X^l) of both: 'block-keeps-w', 'token-mean'; w_1 is also token's"),
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
        key="greedy-mean",
        statement="In its first call no lossless verifier accepts more than greedy block verification, the "
        "sum over words of min(p, q).",
        source="sun2025block, greedy block verification (appendix)",
        keeps=("greedy-block", "hsd-naive"),
        assumed=(
            "E[tau] = sum over l and x^l of Pr(x^l drafted and at least l kept)",
            "kept tokens are drafted and emitted: of probability q(x^l) and, when lossless, p(x^l)",
        ),
        steps=(
            always(
                "a mass within p and within q is within min(p, q)", _b <= least(_p, _q), [_b <= _p, _b <= _q]
            ),
        ),
    ),
    Theorem(
        key="full-information-above-block",
        statement="The full-information optimum is never below block verification, word by word.",
        source="sun2025block, greedy block verification (appendix)",
        keeps=("block", "greedy-block"),
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
