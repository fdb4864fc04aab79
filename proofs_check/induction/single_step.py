"""Single-step rules: alpha*, the most that any of them accepts; plans; and what K-SEQ accepts."""

import sympy
import z3

from draftproof.proofs_check.induction.steps import Theorem, algebra, always
from draftproof.proofs_check.induction.terms import least, reals
from draftproof.proofs_check.induction.token_level import CLAIM, NODE

b, k = sympy.symbols("beta k", positive=True)
_a, _b, _d, _g, _h, _low, _o, _p, _q, _rho = reals("a b d g h low o p q rho")
FORMULA = "the subset formula ('alpha-formula')"
FACTOR = 1 - (1 - 1 / k) ** k
GAP = 1 - (1 - b) ** k - k * b * FACTOR
"""What K-SEQ accepts at rho = k, less the factor times the bound k beta on every rule."""

THEOREMS = (
    Theorem(
        key="alpha-formula",
        statement="alpha* = 1 + min over sets H of p(H) - Pr(all drafts in H).",
        source="hu2025towards, Theorem 3",
        scope="every vocabulary and law of drafts",
        assumed=(
            "a rule is a flow from drawn sets, of mass Pr(t), to tokens of capacity p(i) (sun2023spectr)",
            "the largest flow is the least cut; a cut is the set H of tokens on the source's side",
            "the cut of H has mass p(H) + Pr(not all drafts in H)",
        ),
    ),
    Theorem(
        key="without-replacement-is-better",
        statement="alpha* of k drafts without replacement is never below that of k i.i.d. ones.",
        source="hu2025towards, comparison of samplings",
        scope="every vocabulary and number of drafts",
        assumed=(FORMULA, "drawn with mass d in H so far, the next one is in H with (q(H) - d) / (1 - d)"),
        steps=(
            always(
                "(h - d) / (1 - d) <= h: no draw is likelier to stay in H than an i.i.d. one",
                (_h - _d) / (1 - _d) <= _h,
                [_d >= 0, _d < 1, _h >= _d, _h <= 1],
            ),
            always(
                "so products over the draws compare the same way, and with them p(H) - Pr(all in H)",
                _a * _low <= _b * _h,
                [_a <= _b, _low <= _h, _low >= 0, _b >= 0],
            ),
        ),
    ),
    Theorem(
        key="drafts-that-never-fail",
        statement="With k i.i.d. drafts alpha* = 1 if and only if p(S) >= q(S)^k for every set S of tokens.",
        source="khisti2025multidraft, two identical drafts (k = 2)",
        scope="every vocabulary and k",
        assumed=(FORMULA, "Pr(all drafts in S) = q(S)^k; the minimum over sets is at one of them"),
        steps=(
            always(
                "1 + min(0, m) = 1 if and only if m >= 0, m the least p(S) - q(S)^k",
                (1 + least(_low, z3.RealVal(0)) == 1) == (_low >= 0),
            ),
        ),
    ),
    Theorem(
        key="optimal-transport-lossless",
        statement="Every plan of the membership-cost transport problem gives a lossless rule.",
        source="sun2023spectr, Section 3",
        scope=NODE,
        verifiers=("optimal-transport",),
        assumed=(
            *CLAIM,
            "a plan: S >= 0, sum_i S(i, t) <= Pr(t), g(i) = sum_t S(i, t) <= p(i)",
            "child i of the drawn set t is accepted with S(i, t) / Pr(t), so token i gets g(i) from children",
            "otherwise Y ~ norm(p - g), whose mass is the one that no child took: token i gets p(i) in all",
        ),
    ),
    Theorem(
        key="k-seq-factor",
        statement="K-SEQ accepts at least 1 - (1 - 1/k)^k >= 1 - 1/e of what any single-step rule can.",
        source="sun2023spectr, Section 5 (the factor of K-SEQ)",
        scope="k i.i.d. drafts",
        assumed=(
            "a valid rule accepts x with at most p(x), and with at most Pr(x drawn) = 1 - (1 - q)^k <= k q",
            "rho = k satisfies the condition ('k-seq-lossless'); beta and what is accepted fall as rho grows",
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
            algebra("the gap 1 - (1 - beta)^k - k beta (1 - (1 - 1/k)^k) is 0 at 0", GAP.subs(b, 0), 0),
            algebra("and 0 at beta = 1/k, so not negative between", GAP.subs(b, 1 / k), 0),
            always(
                "accepted >= factor k beta >= factor times the best",
                _a >= _g * _o,
                [_a >= _g * _b, _b >= _o, _g >= 0],
            ),
        ),
    ),
)
