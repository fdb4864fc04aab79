"""K-SEQ is lossless for every rho that satisfies its condition, and accepts within 1 - 1/e of the best.

One node: k children, i.i.d. from q, each accepted with min(1, p / (rho q)). m = min(p / rho, q), beta
its mass, g = (1 - (1 - beta)^k) / beta = 1 + (1 - beta) + .. + (1 - beta)^{k-1}; condition: g <= rho.
"""

import sympy

from draftproof.proofs_check.induction.steps import ONE, ROWS, Theorem, algebra, always, least, reals

b, k, m, p = sympy.symbols("beta k m p", positive=True)
_p, _q, _rho, _g, _m, _b, _a, _o = reals("p q rho g m beta alpha optimum")
FACTOR = 1 - (1 - 1 / k) ** k
GAP = 1 - (1 - b) ** k - k * b * FACTOR
"""What K-SEQ accepts at rho = k, less the factor times the bound k beta on every rule."""

THEOREMS = (
    Theorem(
        name="k-seq is lossless",
        statement=(
            "K-SEQ emits the target's law for every rho with (1 - (1 - beta)^k) / beta <= rho, and rho = k "
            "is always one: every vocabulary, k, shape with i.i.d. siblings, p and q, zeros included."
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
                _q > 0,
                _p >= 0,
                _rho > 0,
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
                _m <= _p / _rho,
                _m >= 0,
                _g >= 0,
                _g <= _rho,
                _rho > 0,
            ),
            algebra(
                "its mass 1 - beta g is (1 - beta)^k, that of no acceptance",
                1 - b * ((1 - (1 - b) ** k) / b),
                (1 - b) ** k,
            ),
            algebra("token x gets m g + (p - m g) = p", m * b + (p - m * b), p),
            always(
                "every summand of g is at most 1, so g <= k: rho = k will do", (1 - _b) <= 1, _b >= 0, _b <= 1
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
        verifiers=(),
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
                _rho > 0,
            ),
            always("beta = sum min(p / k, q) <= 1 / k", _b <= 1 / _rho, _b <= _a / _rho, _a == 1, _rho > 0),
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
                _a >= _g * _b,
                _b >= _o,
                _g >= 0,
            ),
        ),
    ),
)
