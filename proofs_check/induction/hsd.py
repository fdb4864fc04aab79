"""Hierarchical speculative decoding (HSD): it is block verification, and the lemmas of its paper."""

import sympy
import z3

from draftproof.proofs_check.induction.greedy import LESS, MORE, P, Q
from draftproof.proofs_check.induction.one_node import REST, STEPS, S
from draftproof.proofs_check.induction.steps import ROWS, Theorem, algebra, always, summed
from draftproof.proofs_check.induction.terms import ONE, a, least, p, plus, pos, q, reals

_D, _Q, _P, _R, _a, _b, _m, _p, _q, _r, _w = reals("D Q P R a b m p q r w")
_rho, _more, _less = reals("rho D+ D-")
F, A, h, n, r = sympy.symbols("F a h n r", nonnegative=True)


THEOREMS = (
    # So it is lossless, and the comparison of its Theorem 7 with block verification is always an
    # equality. By induction on t: with m = max(1, R_1 .. R_{t-1}) and r*_{t-1} = R_{t-1} / m.
    Theorem(
        name="hsd is block",
        statement=(
            "HSD (Algorithm 2, Equations 19-20) equals block verification in every acceptance probability "
            "and residual, so it is lossless and never accepts more: every vocabulary and depth."
        ),
        source="zhou2026hsd, Theorem 7 (there an inequality)",
        verifiers=("hsd",),
        assumed=("drafted tokens have q > 0", "what is assumed for block verification"),
        steps=(
            always(
                "R_t / max(m, R_t) = min(1, r*_{t-1} rho_t): the recursion of w",
                z3.If(_m < _R * _rho, ONE, _R * _rho / _m) == least(ONE, _R / _m * _rho),
                [_m >= 1, _R >= 0, _m >= _R, _rho >= 0],
            ),
            algebra("D*- = D*+ + 1 - r*", REST, S + 1 - a),
            always(
                "min(1, D+ / D-) is h: with r* <= 1, D+ <= D-, so D+ / (D+ + 1 - r*), and 1 where D- = 0",
                z3.If(_D + 1 - _r > _D, _D / (_D + 1 - _r), 1)
                == z3.If(_D + 1 - _r == 0, 1, _D / (_D + 1 - _r)),
                [_D >= 0, _r >= 0, _r <= 1],
            ),
            *STEPS,
        ),
    ),
    # Within the branch of a prefix with joint probabilities P (target) and Q (proposal), a child x has Pp
    # and Qq; D+ = sum (Pp - Qq)+ is the paper's D(p, q), D- = sum (Qq - Pp)+ its D(q, p).
    Theorem(
        name="recovery within a set",
        statement=(
            "Keeping words of a set with min(1, p/q) and drawing again within it recovers p on the set if "
            "and only if D(p, q) <= D(q, p), D(p, q) being the sum of (p - q)+ over the set."
        ),
        source="zhou2026hsd, Theorem 1",
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
        name="asymmetry of a branch",
        statement=(
            "D(p, q) - D(q, p) of a branch is p(X) - q(X) of its prefix; so the branch can be recovered "
            "where p(X) <= q(X), and over all words D(p, q) = D(q, p) = sum |p - q| / 2."
        ),
        source="zhou2026hsd, Theorem 2, Corollary 3, Lemma 2 and Section A.1",
        assumed=(ROWS,),
        steps=(
            summed("D+ - D- = P - Q", pos(P * p - Q * q) - pos(Q * q - P * p), P - Q),
            always(
                "D+ <= D- if and only if P <= Q", (_more <= _less) == (_P <= _Q), [_more - _less == _P - _Q]
            ),
            summed("over all words P = Q = 1: D+ = D-", pos(p - q) - pos(q - p), sympy.Integer(0)),
            always(
                "|p - q| = (p - q)+ + (q - p)+, so half its sum is D+",
                z3.If(_p > _q, _p - _q, _q - _p) == plus(_p - _q) + plus(_q - _p),
            ),
        ),
    ),
    Theorem(
        name="hierarchy of branches",
        statement=(
            "The positive asymmetries, D(p, q) - D(q, p), of the child branches of a prefix add up to the "
            "prefix's own D(p, q), the negative ones to D(q, p)."
        ),
        source="zhou2026hsd, Theorem 4",
        assumed=(ROWS, "the asymmetry of a child's branch is Pp - Qq ('asymmetry of a branch')"),
        steps=(
            summed("sum of the positive parts of Pp - Qq is D+", pos(P * p - Q * q), MORE),
            summed("sum of the negative parts is D-", pos(Q * q - P * p), LESS),
            summed("and their difference is again P - Q", P * p - Q * q, MORE - LESS),
        ),
    ),
    # R_t is the joint ratio, m_t = max(1, R_1 .. R_t), w_t = R_t / m_t the ratio of block verification, and
    # the paper's r*_t = R_t / m_{t-1}: min(1, r*_t) = w_t, and a new peak of R is a t with r*_t > 1.
    Theorem(
        name="capped ratios",
        statement=(
            "At a new peak of the joint ratio r* is the ratio since the last peak and above 1, elsewhere it "
            "is at most 1; min(1, r*) is block verification's w."
        ),
        source="zhou2026hsd, Lemma 5 and Lemma 6",
        assumed=("of equal peaks the first counts; m is R at the last peak, or 1",),
        steps=(
            always("no new peak, R_t <= m_{t-1}, gives r* = R_t / m <= 1", _R / _m <= 1, [_m >= _R, _m >= 1]),
            always("a new peak, R_t > m_{t-1}, gives r* = R_t / m > 1", _R / _m > 1, [_m < _R, _m >= 1]),
            always(
                "min(1, R_t / m_{t-1}) = R_t / max(m_{t-1}, R_t)",
                least(ONE, _R / _m) == z3.If(_m < _R, ONE, _R / _m),
                [_m >= 1, _R >= 0],
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
        assumed=(
            "'hsd is block' and 'block is lossless': X^{t-1} reaches its residual with mass q(X^{t-1}) S, "
            "which gives x_t the share (w p - q)+ / S",
        ),
        steps=(
            always(
                "Q (w p - q)+ = Q q (r* - 1)+, r* = w p / q",
                _Q * plus(_w * _p - _q) == _Q * _q * plus(_w * _p / _q - 1),
                [_q > 0],
            ),
            always(
                "it is positive only where r* > 1: at a new peak",
                (plus(_w * _rho - 1) > 0) == (_w * _rho > 1),
            ),
            algebra(
                "F_{l-1} = r F_l, r the ratio from peak to peak: (r - 1) F_l = F_{l-1} - F_l",
                (r - 1) * F,
                r * F - F,
            ),
            algebra(
                "the sum telescopes: F_L + (F_{L-1} - F_L) = F_{L-1}, down to F_0 = p(X)",
                F + (r * F - F),
                r * F,
            ),
            always(
                "what is accepted, min(1, r*) q, is F_L: past the last peak r* <= 1 carries q to p",
                least(ONE, _r) * _Q == _r * _Q,
                [_r <= 1, _r >= 0],
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
        assumed=("coins are independent", "Lemma 10 is read as E[X] = a sum Pr(X >= k a)"),
        steps=(
            algebra(
                "one position earlier: stopped later, or not and u_i <= h_i",
                1 - (F + (1 - F) * h),
                (1 - F) * (1 - h),
            ),
            algebra(
                "X = n a counts a for every k up to n: n a in all; from n to n + 1", n * A + A, (n + 1) * A
            ),
        ),
    ),
    Theorem(
        name="weights as least suffix products",
        statement=(
            "Block verification's w_t = min(1, w_{t-1} r_t) is the least product of a suffix r_{s+1} .. r_t "
            "of the ratios, the empty one included."
        ),
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
