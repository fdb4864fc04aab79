"""K-SEQ and its lift: lossless for every rho that satisfies the condition, and how near the best rule."""

import sympy

from draftproof.proofs_check.induction.steps import ROWS, Theorem, algebra, always
from draftproof.proofs_check.induction.terms import ONE, a, least, p, reals

b, k, m, taken, x = sympy.symbols("beta k m A x", positive=True)
_a, _b, _g, _m, _n, _o, _p, _q, _rho, _s, _t = reals("alpha beta g m n optimum p q rho t' t")
_early, _late = reals("early late")
FACTOR = 1 - (1 - 1 / k) ** k
GAP = 1 - (1 - b) ** k - k * b * FACTOR
"""What K-SEQ accepts at rho = k, less the factor times the bound k beta on every rule."""


THEOREMS = (
    # One node: k children, i.i.d. from q, each accepted with min(1, p / (rho q)). m = min(p / rho, q), beta
    # its mass, g = (1 - (1 - beta)^k) / beta = 1 + (1 - beta) + .. + (1 - beta)^{k-1}; condition: g <= rho.
    Theorem(
        name="k-seq is lossless",
        statement=(
            "K-SEQ is lossless for every rho with (1 - (1 - beta)^k) / beta <= rho, and rho = k is always "
            "one: every vocabulary, k, shape with i.i.d. siblings, p and q, zeros included."
        ),
        source="sun2023spectr, Algorithm 2",
        verifiers=("k-seq",),
        assumed=(
            ROWS,
            "siblings are i.i.d. from the row q that the rule divides by",
            "the claim for less depth (induction); an accepted child, or a drafted y, is followed by its "
            "target",
        ),
        steps=(
            always(
                "a child x is drawn and accepted with q min(1, p / (rho q)) = min(p / rho, q) = m",
                _q * least(ONE, _p / (_rho * _q)) == least(_p / _rho, _q),
                [_q > 0, _p >= 0, _rho > 0],
            ),
            algebra(
                "the j-th is reached with (1 - beta)^{j-1}: m times 1 + .. + (1 - beta)^{k-1} = m g; from "
                "k to k + 1",
                (1 - (1 - b) ** k) / b + (1 - b) ** k,
                (1 - (1 - b) ** (k + 1)) / b,
            ),
            always(
                "m g <= p: the residual p - m g is nowhere negative",
                _m * _g <= _p,
                [_m <= _p / _rho, _m >= 0, _g >= 0, _g <= _rho, _rho > 0],
            ),
            algebra(
                "its mass 1 - beta g is (1 - beta)^k, that of no acceptance",
                1 - b * ((1 - (1 - b) ** k) / b),
                (1 - b) ** k,
            ),
            algebra("token x gets m g + (p - m g) = p", m * b + (p - m * b), p),
            always(
                "every summand of g is at most 1, so g <= k: rho = k will do",
                (1 - _b) <= 1,
                [_b >= 0, _b <= 1],
            ),
        ),
    ),
    Theorem(
        name="k-seq is within 1 - 1/e",
        statement=(
            "K-SEQ accepts at least (1 - (1 - 1/k)^k) >= 1 - 1/e times what any valid rule for k i.i.d. "
            "drafts can: every vocabulary and k."
        ),
        source="sun2023spectr, Section 5 (the factor of K-SEQ)",
        assumed=(
            "a valid rule accepts x with at most p(x), and with at most Pr(x drawn) = 1 - (1 - q)^k <= k q",
            "rho = k satisfies the condition ('k-seq is lossless'); beta and what is accepted fall as rho "
            "grows",
            "(1 - 1/k)^k <= 1/e",
        ),
        steps=(
            always(
                "any rule accepts x with at most min(p, k q) = k min(p / k, q): in all k beta, at rho = k",
                least(_p, _rho * _q) == _rho * least(_p / _rho, _q),
                [_rho > 0],
            ),
            always("beta = sum min(p / k, q) <= 1 / k", _b <= 1 / _rho, [_b <= _a / _rho, _a == 1, _rho > 0]),
            algebra(
                "1 - (1 - beta)^k is concave in beta: its second derivative is -k (k - 1) (1 - beta)^{k-2}",
                sympy.diff(GAP, b, 2),
                -k * (k - 1) * (1 - b) ** (k - 2),
            ),
            algebra(
                "the gap 1 - (1 - beta)^k - k beta (1 - (1 - 1/k)^k) is 0 at beta = 0", GAP.subs(b, 0), 0
            ),
            algebra("and 0 at beta = 1/k, so not negative between", GAP.subs(b, 1 / k), 0),
            always(
                "accepted >= factor k beta >= factor times the best",
                _a >= _g * _o,
                [_a >= _g * _b, _b >= _o, _g >= 0],
            ),
        ),
    ),
    # One node of rate a: t = a p, k children, i.i.d. from q. m = min(t / rho, q), beta its mass;
    # early = 1 + (1 - beta) + .. + (1 - beta)^{k-2}, late = (1 - beta)^{k-1}, early + late <= rho.
    # All but the last child are entered with min(1, t / (rho q)), the last with
    # min(1, t' / (late q)), t' = t (1 - early / rho).
    Theorem(
        name="the lift of k-seq is lossless",
        statement=(
            "The lift of K-SEQ is lossless for every rho that satisfies K-SEQ's condition on the node's own "
            "row, early + late <= rho, and rho = k is always one: every vocabulary, depth, shape with i.i.d. "
            "siblings, p and q, zeros included."
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
                "a child x before the last is drawn and kept with q min(1, t / (rho q)) = min(t / rho, q) = "
                "m",
                _q * least(ONE, _t / (_rho * _q)) == least(_t / _rho, _q),
                [_q > 0, _t >= 0, _rho > 0],
            ),
            algebra(
                "the j-th is reached with (1 - beta)^{j-1}: k of them give x the mass m early; from k to k "
                "+ 1",
                (1 - (1 - b) ** k) / b + (1 - b) ** k,
                (1 - (1 - b) ** (k + 1)) / b,
            ),
            always(
                "the last is reached with late, and gives x late q min(1, t' / (late q)) = min(t', late q) "
                "= n; not where late = 0, and then n = 0",
                _late * _q * least(ONE, _s / (_late * _q)) == least(_s, _late * _q),
                [_q > 0, _late > 0, _s >= 0],
            ),
            always(
                "early + late <= rho makes t' = t (1 - early / rho) not negative",
                _t * (1 - _early / _rho) >= 0,
                [_t >= 0, _early + _late <= _rho, _late >= 0, _rho > 0],
            ),
            always(
                "and m early + n <= t: the rule is valid, and the rest t - (m early + n) nowhere negative",
                _m * _early + _n <= _t,
                [_m <= _t / _rho, _n <= _t * (1 - _early / _rho), _early >= 0, _rho > 0],
            ),
            algebra(
                "the rest has mass a - A, and is kept with (1 - A) (a - A) / (1 - A)",
                (1 - taken) * ((a - taken) / (1 - taken)),
                a - taken,
            ),
            always(
                "every summand of early + late is at most 1, so rho = k will do",
                (1 - _b) <= 1,
                [_b >= 0, _b <= 1],
            ),
        ),
    ),
)
