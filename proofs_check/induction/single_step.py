"""Single-step rules: alpha*, the most that any of them accepts; plans; and K-SEQ, alone and lifted."""

from typing import Any

import sympy
import z3

from draftproof.proofs_check.induction.steps import ROWS, Step, Theorem, algebra, always
from draftproof.proofs_check.induction.terms import ONE, least, reals
from draftproof.proofs_check.induction.token_level import CLAIM, NODE

b, k = sympy.symbols("beta k", positive=True)
_a, _b, _d, _g, _h, _low, _m, _n, _o, _p, _q, _rho, _s, _t = reals("a b d g h low m n o p q rho t' t")
_early, _late = reals("early late")
FORMULA = "the subset formula ('alpha-formula')"
FACTOR = 1 - (1 - 1 / k) ** k
GAP = 1 - (1 - b) ** k - k * b * FACTOR
"""What K-SEQ accepts at rho = k, less the factor times the bound k beta on every rule."""

IID = "siblings are i.i.d. from the row q that the rule divides by"
GEOMETRIC = algebra(
    "child j is reached with (1 - beta)^(j-1), k of them with (1 - (1 - beta)^k) / beta: from k to k + 1",
    (1 - (1 - b) ** k) / b + (1 - b) ** k,
    (1 - (1 - b) ** (k + 1)) / b,
)
RHO = always("every summand of that sum is at most 1, so rho = k is valid", 1 - _b <= 1, [_b >= 0, _b <= 1])


def accepted(name: str, target: Any) -> Step:
    """A child is drawn and accepted with q min(1, target / (rho q)) = min(target / rho, q)."""
    return always(
        f"a child x is drawn and accepted with q min(1, {name} / (rho q)) = min({name} / rho, q) = m",
        _q * least(ONE, target / (_rho * _q)) == least(target / _rho, _q),
        [_q > 0, target >= 0, _rho > 0],
    )


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
    # One node: k children, i.i.d. from q, each accepted with min(1, p / (rho q)). m = min(p / rho, q), beta
    # its mass, g = (1 - (1 - beta)^k) / beta = 1 + (1 - beta) + .. + (1 - beta)^{k-1}; condition: g <= rho.
    # Token x gets m g from the children; the residual p - m g has the mass (1 - beta)^k of no acceptance.
    Theorem(
        key="k-seq-lossless",
        statement="K-SEQ is lossless for every rho with (1 - (1 - beta)^k) / beta <= rho, such as rho = k.",
        source="sun2023spectr, Algorithm 2",
        scope="i.i.d. siblings",
        verifiers=("k-seq",),
        assumed=(
            ROWS,
            IID,
            "the claim for less depth (induction); a drafted token that is emitted is followed by its target",
            "rho is free: the algebraic rho* and the multiple of 1/1024 above it are cases",
        ),
        steps=(
            accepted("p", _p),
            GEOMETRIC,
            always(
                "m g <= p, g that sum: the residual p - m g is nowhere negative",
                _m * _g <= _p,
                [_m <= _p / _rho, _m >= 0, _g >= 0, _g <= _rho, _rho > 0],
            ),
            RHO,
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
    # One node of rate a: t = a p, k children, i.i.d. from q. m = min(t / rho, q), beta its mass;
    # early = 1 + (1 - beta) + .. + (1 - beta)^{k-2}, late = (1 - beta)^{k-1}, early + late <= rho.
    # All but the last child are entered with min(1, t / (rho q)), the last with
    # min(1, t' / (late q)), t' = t (1 - early / rho).
    Theorem(
        key="lifted-k-seq-lossless",
        statement="The lift of K-SEQ is lossless for every rho that K-SEQ's condition admits at the node.",
        source="our derivation; the single-step rule is sun2023spectr, Algorithm 2",
        scope="i.i.d. siblings",
        verifiers=("lifted-k-seq",),
        assumed=(ROWS, IID, "what a valid rule's lift needs is enough: 'lift-lossless'"),
        steps=(
            accepted("t", _t),
            GEOMETRIC,
            always(
                "the last gives x late q min(1, t' / (late q)) = min(t', late q) = n, where late = 0 nothing",
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
            RHO,
        ),
    ),
)
