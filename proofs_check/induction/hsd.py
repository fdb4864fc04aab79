"""HSD as its paper writes it is block verification, number for number, at every size.

So it is lossless, and the comparison of its Theorem 7 with block verification is always an
equality. By induction on t: with m = max(1, R_1 .. R_{t-1}) and r*_{t-1} = R_{t-1} / m.
"""

import z3

from draftproof.proofs_check.induction.accepting import REST, STEPS, S
from draftproof.proofs_check.induction.steps import ONE, Theorem, a, algebra, always, least, reals

_R, _m, _rho, _D, _r = reals("R m rho D r")


THEOREM = Theorem(
    name="hsd is block",
    statement=(
        "HSD (Algorithm 2, Equations 19-20) equals block verification in every acceptance probability and "
        "residual, so it is lossless and never accepts more: every vocabulary and depth."
    ),
    source="zhou2026hsd, Theorem 7 (there an inequality)",
    verifiers=("hsd",),
    assumed=("drafted tokens have q > 0", "what is assumed for block verification"),
    steps=(
        always(
            "R_t / max(m, R_t) = min(1, r*_{t-1} rho_t): the recursion of w",
            z3.If(_m < _R * _rho, ONE, _R * _rho / _m) == least(ONE, _R / _m * _rho),
            _m >= 1,
            _R >= 0,
            _m >= _R,
            _rho >= 0,
        ),
        algebra("D*- = D*+ + 1 - r*", REST, S + 1 - a),
        always(
            "min(1, D+ / D-) is h: with r* <= 1, D+ <= D-, so D+ / (D+ + 1 - r*), and 1 where D- = 0",
            z3.If(_D + 1 - _r > _D, _D / (_D + 1 - _r), 1) == z3.If(_D + 1 - _r == 0, 1, _D / (_D + 1 - _r)),
            _D >= 0,
            _r >= 0,
            _r <= 1,
        ),
        *STEPS,
    ),
)
