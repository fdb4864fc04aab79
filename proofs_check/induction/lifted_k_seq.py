"""The lift of K-SEQ is lossless: K-SEQ's masses on a sub-probability row, the last child's own, are valid.

One node of rate a: t = a p, k children, i.i.d. from q. m = min(t / rho, q), beta its mass; early =
1 + (1 - beta) + .. + (1 - beta)^{k-2}, late = (1 - beta)^{k-1}, early + late <= rho. All but the last
child are entered with min(1, t / (rho q)), the last with min(1, t' / (late q)), t' = t (1 - early / rho).
"""

import sympy

from draftproof.proofs_check.induction.steps import ONE, Theorem, algebra, always, least, reals

a, b, k, taken = sympy.symbols("a beta k A", positive=True)
_t, _q, _rho, _early, _late, _m, _n, _s, _beta = reals("t q rho early late m n t' beta")

THEOREM = Theorem(
    name="the lift of k-seq is lossless",
    statement=(
        "The lift of K-SEQ emits the target's law for every rho with early + late <= rho, and rho = k is "
        "always one: every vocabulary, depth, shape with i.i.d. siblings, p and q, zeros included."
    ),
    source="our derivation; the single-step rule is sun2023spectr, Algorithm 2",
    verifiers=("lifted-k-seq",),
    assumed=(
        "rows are non-negative, q of mass 1 and p too; sums over the vocabulary are finite and linear",
        "siblings are i.i.d. from the row q that the rule divides by",
        "what a valid rule's lift needs is enough: 'the lift is lossless'",
    ),
    steps=(
        always(
            "a child x before the last is drawn and kept with q min(1, t / (rho q)) = min(t / rho, q) = m",
            _q * least(ONE, _t / (_rho * _q)) == least(_t / _rho, _q),
            _q > 0,
            _t >= 0,
            _rho > 0,
        ),
        algebra(
            "the j-th is reached with (1 - beta)^{j-1}: k of them give x the mass m early; from k to k + 1",
            (1 - (1 - b) ** k) / b + (1 - b) ** k,
            (1 - (1 - b) ** (k + 1)) / b,
        ),
        always(
            "the last is reached with late, and gives x late q min(1, t' / (late q)) = min(t', late q) = n; "
            "not where late = 0, and then n = 0",
            _late * _q * least(ONE, _s / (_late * _q)) == least(_s, _late * _q),
            _q > 0,
            _late > 0,
            _s >= 0,
        ),
        always(
            "early + late <= rho makes t' = t (1 - early / rho) not negative",
            _t * (1 - _early / _rho) >= 0,
            _t >= 0,
            _early + _late <= _rho,
            _late >= 0,
            _rho > 0,
        ),
        always(
            "and m early + n <= t: the rule is valid, and the rest t - (m early + n) nowhere negative",
            _m * _early + _n <= _t,
            _m <= _t / _rho,
            _n <= _t * (1 - _early / _rho),
            _early >= 0,
            _rho > 0,
        ),
        algebra(
            "the rest has mass a - A, and is kept with (1 - A) (a - A) / (1 - A)",
            (1 - taken) * ((a - taken) / (1 - taken)),
            a - taken,
        ),
        always(
            "every summand of early + late is at most 1, so rho = k will do",
            (1 - _beta) <= 1,
            _beta >= 0,
            _beta <= 1,
        ),
    ),
)
