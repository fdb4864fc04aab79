"""HSD's lemmas about capped ratios and masses, and what they say of E[tau].

R_t is the joint ratio, m_t = max(1, R_1 .. R_t), w_t = R_t / m_t the ratio of block verification, and
the paper's r*_t = R_t / m_{t-1}: min(1, r*_t) = w_t, and a new peak of R is a t with r*_t > 1.
"""

import sympy
import z3

from draftproof.proofs_check.induction.steps import ONE, Theorem, algebra, always, least, plus, reals

R, m, r, Q, w, p, q, rho, a, b = reals("R m r Q w p q rho a b")
_F, _h, _r, _n, _a = sympy.symbols("F h r n a", nonnegative=True)

THEOREMS = (
    Theorem(
        name="capped ratios",
        statement=(
            "At a new peak of the joint ratio r* is the ratio since the last peak and above 1, elsewhere it "
            "is at most 1; min(1, r*) is block verification's w."
        ),
        source="zhou2026hsd, Lemma 5 and Lemma 6",
        verifiers=(),
        assumed=("of equal peaks the first counts; m is R at the last peak, or 1",),
        steps=(
            always("no new peak, R_t <= m_{t-1}, gives r* = R_t / m <= 1", R / m <= 1, m >= R, m >= 1),
            always("a new peak, R_t > m_{t-1}, gives r* = R_t / m > 1", R / m > 1, m < R, m >= 1),
            always(
                "min(1, R_t / m_{t-1}) = R_t / max(m_{t-1}, R_t)",
                least(ONE, R / m) == z3.If(m < R, ONE, R / m),
                m >= 1,
                R >= 0,
            ),
        ),
    ),
    Theorem(
        name="resampled masses of hsd",
        statement=(
            "x_t is drawn again after X^{t-1} with mass q(X^t) (r*_t - 1)+, which is not 0 at new peaks "
            "only; with F_l = q up to peak l and p beyond it the masses telescope to F_{l-1} - F_l, and "
            "with the accepted mass min(1, r*) q they add up to p(X)."
        ),
        source="zhou2026hsd, Lemma 7, Lemma 8 and Theorem 6",
        verifiers=(),
        assumed=(
            "'hsd is block' and 'block is lossless': X^{t-1} reaches its residual with mass q(X^{t-1}) S, "
            "which gives x_t the share (w p - q)+ / S",
        ),
        steps=(
            always(
                "Q (w p - q)+ = Q q (r* - 1)+, r* = w p / q",
                Q * plus(w * p - q) == Q * q * plus(w * p / q - 1),
                q > 0,
            ),
            always(
                "it is positive only where r* > 1: at a new peak",
                (plus(w * rho - 1) > 0) == (w * rho > 1),
            ),
            algebra(
                "F_{l-1} = r F_l, r the ratio from peak to peak: (r - 1) F_l = F_{l-1} - F_l",
                (_r - 1) * _F,
                _r * _F - _F,
            ),
            algebra(
                "the sum telescopes: F_L + (F_{L-1} - F_L) = F_{L-1}, down to F_0 = p(X)",
                _F + (_r * _F - _F),
                _r * _F,
            ),
            always(
                "what is accepted, min(1, r*) q, is F_L: past the last peak r* <= 1 carries q to p",
                least(ONE, r) * Q == r * Q,
                r <= 1,
                r >= 0,
            ),
        ),
    ),
    Theorem(
        name="means from stopping probabilities",
        statement=(
            "Of a rule that stops at the last l with u_l <= h_l: Pr(tau >= i | X) = 1 - prod_{k >= i} (1 "
            "- h_k), and "
            "E[tau] is the sum of those over i; of token verification Pr(tau >= i | X) = prod_{k <= i} h_k."
        ),
        source="zhou2026hsd, Lemma 9 and Lemma 10",
        verifiers=(),
        assumed=("coins are independent", "Lemma 10 is read as E[X] = a sum Pr(X >= k a)"),
        steps=(
            algebra(
                "one position earlier: stopped later, or not and u_i <= h_i",
                1 - (_F + (1 - _F) * _h),
                (1 - _F) * (1 - _h),
            ),
            algebra(
                "X = n a counts a for every k up to n: n a in all; from n to n + 1",
                _n * _a + _a,
                (_n + 1) * _a,
            ),
        ),
    ),
    Theorem(
        name="weights as least suffix products",
        statement=(
            "w_t = min(1, w_{t-1} r_t) is the least product of a suffix r_{s+1} .. r_t, the empty one "
            "included."
        ),
        source="zhou2026hsd, Lemma 11",
        verifiers=(),
        assumed=("w_{t-1} is the least suffix product one position earlier (induction); w_0 = 1",),
        steps=(
            always(
                "min(1, min(a, b) r) = min(1, a r, b r) for r >= 0",
                least(ONE, least(a, b) * r) == least(ONE, least(a * r, b * r)),
                r >= 0,
            ),
        ),
    ),
)
