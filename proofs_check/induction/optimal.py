"""No valid verifier of one path accepts more than block verification.

Let f_l = Pr(tau >= l | X^l = x^l) of a valid verifier, and P, Q the target's and proposal's
probability of x^{l-1}. Through x^{l-1} goes the mass P. The part with tau < l - 1, of mass B, has
left the draft: it is continued by the target, so x_l gets B p of it. In all x_l must get P p, so the
part with tau >= l - 1, of mass Q f_{l-1}, gives it (P - B) p = Q f_{l-1} p; of that Q q f_l is drafted
and accepted. Hence f_l <= f_{l-1} p / q, and f_l <= 1: by induction f_l <= w_l.
"""

import sympy

from draftproof.proofs_check.induction.steps import ONE, Theorem, algebra, always, least, reals

P, B, p = sympy.symbols("P B p", nonnegative=True)
_f, _g, _w, _rho, _Q, _q, _p = reals("f g w rho Q q p")


THEOREM = Theorem(
    name="block is optimal",
    statement=(
        "Every valid verifier of one path has Pr(tau >= l | X^l) <= w_l, with equality for block "
        "verification; so E[tau] <= sum over x^l of q(x^l) w_l(x^l): every vocabulary and depth."
    ),
    source="sun2025block, optimality of Algorithm 2",
    verifiers=(),
    assumed=(
        "valid: the block completed by the target has the target's joint law; tau < l - 1 leaves the draft",
        "the bound one position earlier (induction); f_0 = w_0 = 1",
        "equality for block: the theorem 'block is lossless'",
    ),
    steps=(
        algebra(
            "what is still in the draft gives x_l the mass P p - B p = (P - B) p", P * p - B * p, (P - B) * p
        ),
        always(
            "Q q f_l <= Q f_{l-1} p gives f_l <= f_{l-1} rho",
            _g <= _f * _p / _q,
            _Q * _q * _g <= _Q * _f * _p,
            _Q > 0,
            _q > 0,
        ),
        always(
            "f_{l-1} <= w_{l-1}, f_l <= f_{l-1} rho and f_l <= 1 give f_l <= min(1, w_{l-1} rho) = w_l",
            _g <= least(ONE, _w * _rho),
            _f <= _w,
            _g <= _f * _rho,
            _g <= 1,
            _rho >= 0,
        ),
    ),
)
