"""The lemmas of the paper on hierarchical speculative decoding (HSD), zhou2026hsd."""

import sympy
import z3

from draftproof.proofs_check.induction.steps import ROWS, Corollary, Theorem, algebra, always, summed
from draftproof.proofs_check.induction.terms import ONE, least, p, plus, pos, q, reals, total

_D, _Q, _P, _R, _a, _b, _m, _p, _q, _r, _w = reals("D Q P R a b m p q r w")
_rho, _more, _less = reals("rho D+ D-")
F, A, h, n, r = sympy.symbols("F a h n r", nonnegative=True)

# The joint probabilities of a prefix, and those of its children, P p and Q q, compared.
P, Q = sympy.symbols("P Q", nonnegative=True)
MORE, LESS = total(pos(P * p - Q * q)), total(pos(Q * q - P * p))
DIFFERENCE = summed("D+ - D- = P - Q", pos(P * p - Q * q) - pos(Q * q - P * p), P - Q)

THEOREMS = (
    # Within the branch of a prefix with joint probabilities P (target) and Q (proposal), a child x has Pp
    # and Qq; D+ = sum (Pp - Qq)+ is the paper's D(p, q), D- = sum (Qq - Pp)+ its D(q, p).
    Theorem(
        key="hsd-recovery",
        statement="Keeping words of a set with min(1, p/q) and drawing again within it recovers p on the set "
        "if and only if D(p, q) <= D(q, p), the sums of (p - q)+ and (q - p)+ over the set.",
        source="zhou2026hsd, Theorem 1",
        scope="every set of words",
        assumed=("the mass that triggers a second draw is D(q, p), the mass not kept",),
        steps=(
            always(
                "w is kept with q min(1, p/q) = min(p, q) and lacks (p - q)+",
                _p - least(_p, _q) == plus(_p - _q),
                [_p >= 0, _q >= 0],
            ),
            always(
                "second draws of total weight D(p, q) / D(q, p) must not exceed 1: if and only if",
                (_more / _less <= 1) == (_more <= _less),
                [_less > 0, _more >= 0],
            ),
        ),
    ),
    Theorem(
        key="hsd-asymmetry",
        statement="Over a branch the sum of (p - q)+ less that of (q - p)+ is p(X) - q(X) of its prefix.",
        source="zhou2026hsd, Theorem 2",
        scope="every branch",
        assumed=(ROWS,),
        steps=(
            DIFFERENCE,
            always("D+ <= D- iff P <= Q", (_more <= _less) == (_P <= _Q), [_more - _less == _P - _Q]),
            summed("over all words P = Q = 1: D+ = D-", pos(p - q) - pos(q - p), sympy.Integer(0)),
            always(
                "|p - q| = (p - q)+ + (q - p)+, so half its sum is D+",
                z3.If(_p > _q, _p - _q, _q - _p) == plus(_p - _q) + plus(_q - _p),
            ),
        ),
        corollaries=(
            Corollary(
                "hsd-branch-recovery",
                "A branch can be recovered by drawing again within it where p(X) <= q(X) of its prefix.",
                "zhou2026hsd, Corollary 3",
            ),
            Corollary(
                "hsd-total-divergence",
                "Over all words the sums of (p - q)+ and of (q - p)+ are equal, half of that of |p - q|.",
                "zhou2026hsd, Section A.1 and Lemma 2",
                "every vocabulary",
            ),
        ),
    ),
    Theorem(
        key="hsd-hierarchy",
        statement="The positive asymmetries of child branches add up to D(p, q), the negative to D(q, p).",
        source="zhou2026hsd, Theorem 4",
        scope="every branch",
        assumed=(ROWS, "the asymmetry of a child's branch is Pp - Qq ('hsd-asymmetry')"),
        steps=(summed("the difference of the two sums is again P - Q", P * p - Q * q, MORE - LESS),),
    ),
    # R_t is the joint ratio, m_t = max(1, R_1 .. R_t), w_t = R_t / m_t the ratio of block verification, and
    # the paper's r*_t = R_t / m_{t-1}: min(1, r*_t) = w_t, and a new peak of R is a t with r*_t > 1.
    Theorem(
        key="hsd-capped-between",
        statement="Between two neighbouring peaks of the joint ratio the capped ratio r* is at most 1.",
        source="zhou2026hsd, Lemma 5",
        assumed=("of equal peaks the first counts; m is R at the last peak, or 1",),
        steps=(
            always("no new peak, R_t <= m_{t-1}, gives r* = R_t / m <= 1", _R / _m <= 1, [_m >= _R, _m >= 1]),
            always("a new peak, R_t > m_{t-1}, gives r* = R_t / m > 1", _R / _m > 1, [_m < _R, _m >= 1]),
            always(
                "min(1, r*) is block verification's w: min(1, R_t / m_{t-1}) = R_t / max(m_{t-1}, R_t)",
                least(ONE, _R / _m) == z3.If(_m < _R, ONE, _R / _m),
                [_m >= 1, _R >= 0],
            ),
        ),
        corollaries=(
            Corollary(
                "hsd-capped-at-peaks",
                "At a peak of the joint ratio r* is the ratio since the last peak, and above 1.",
                "zhou2026hsd, Lemma 6",
            ),
        ),
    ),
    Theorem(
        key="hsd-resampled-mass",
        statement="Only peaks of the joint ratio are drawn again, X^m with mass (r* - 1)+ q(X^m).",
        source="zhou2026hsd, Lemma 7",
        assumed=(
            "'hsd-is-block' and 'block-lossless': X^{t-1} reaches its residual with mass q(X^{t-1}) S, "
            "which gives x_t the probability (w p - q)+ / S",
            "F_l is the hybrid probability of X, q up to peak l and p beyond it; F_0 = p(X)",
        ),
        steps=(
            always(
                "Q (w p - q)+ = Q q (r* - 1)+, r* = w p / q",
                _Q * plus(_w * _p - _q) == _Q * _q * plus(_w * _p / _q - 1),
                [_q > 0],
            ),
            always("it is positive only at a new peak, r* > 1", (plus(_w * _rho - 1) > 0) == (_w * _rho > 1)),
            algebra(
                "F_{l-1} = r F_l, r the ratio from peak to peak: (r - 1) F_l = F_{l-1} - F_l telescopes",
                (r - 1) * F,
                r * F - F,
            ),
            always(
                "what is accepted, min(1, r*) q, is F_L: past the last peak r* <= 1 carries q to p",
                least(ONE, _r) * _Q == _r * _Q,
                [_r <= 1, _r >= 0],
            ),
        ),
        corollaries=(
            Corollary(
                "hsd-telescoping",
                "Those masses are differences of the hybrid probabilities, q up to a peak and p beyond.",
                "zhou2026hsd, Lemma 8",
            ),
        ),
    ),
    Theorem(
        key="hsd-means",
        statement="E[tau] given the draft is the sum over i of 1 - prod_{k >= i} (1 - h_k) for HSD and block "
        "verification, of prod_{k <= i} h_k for token verification.",
        source="zhou2026hsd, Lemma 9",
        assumed=(
            "coins are independent; the rule stops at the last l with u_l <= h_l",
            "Lemma 10 is read as E[X] = a sum Pr(X >= k a)",
        ),
        steps=(
            algebra(
                "one position earlier: stopped later, or not and u_i <= h_i",
                1 - (F + (1 - F) * h),
                (1 - F) * (1 - h),
            ),
            algebra("X = n a counts a for every k up to n, from n to n + 1", n * A + A, (n + 1) * A),
        ),
        corollaries=(
            Corollary(
                "hsd-tail-sum",
                "The mean of a multiple of a is a times the sum of its tail probabilities.",
                "zhou2026hsd, Lemma 10",
                "every distribution on 0, a, 2a, ..",
            ),
        ),
    ),
    Theorem(
        key="hsd-suffix-products",
        statement="Block verification's w_t is the least suffix product of the ratios, the empty one too.",
        source="zhou2026hsd, Lemma 11",
        assumed=("w_{t-1} is the least suffix product one position earlier (induction); w_0 = 1",),
        steps=(
            always(
                "min(1, min(a, b) r) = min(1, a r, b r) for r >= 0",
                least(ONE, least(_a, _b) * _r) == least(ONE, least(_a * _r, _b * _r)),
                [_r >= 0],
            ),
        ),
    ),
)
