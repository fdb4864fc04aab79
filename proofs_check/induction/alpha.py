"""What any single-step rule can accept: alpha* = 1 + min over sets H of p(H) - Pr(all drafts in H)."""

import sympy
import z3

from draftproof.proofs_check.induction.steps import Theorem, algebra, always
from draftproof.proofs_check.induction.terms import least, reals

P, D = sympy.symbols("P D", nonnegative=True)
_h, _d, _a, _b, _low, _p = reals("h d a b low p")
FORMULA = "'subset formula'"


THEOREMS = (
    Theorem(
        name="subset formula",
        statement=(
            "alpha* = 1 + min over sets H of p(H) - Pr(all drafts in H): every vocabulary and law of drafts."
        ),
        source="hu2025towards, Theorem 3",
        assumed=(
            "a rule is a flow from drawn sets t, of mass Pr(t), to their tokens, of capacity p(i) "
            "(sun2023spectr, Section 3)",
            "the largest flow is the least cut; a cut is the set H of tokens on the source's side, and cuts "
            "p(H) and every t that has no token outside H stays uncut",
        ),
        steps=(
            algebra(
                "the cut of H is p(H) + Pr(not all drafts in H) = 1 + p(H) - Pr(all in H)",
                P + (1 - D),
                1 + P - D,
            ),
        ),
    ),
    Theorem(
        name="without replacement is no worse",
        statement=(
            "alpha* of k drafts without replacement is never below that of k i.i.d. ones: every "
            "vocabulary and k."
        ),
        source="hu2025towards, comparison of samplings",
        assumed=(FORMULA, "drawn with mass d in H so far, the next one is in H with (q(H) - d) / (1 - d)"),
        steps=(
            always(
                "(h - d) / (1 - d) <= h: draw by draw, no likelier to stay in H than an i.i.d. one",
                (_h - _d) / (1 - _d) <= _h,
                [_d >= 0, _d < 1, _h >= _d, _h <= 1],
            ),
            always(
                "so products over the draws compare the same way",
                _a * _low <= _b * _h,
                [_a <= _b, _low <= _h, _low >= 0, _b >= 0],
            ),
            always("and p(H) - Pr(all in H) is no smaller, for every H", _p - _a >= _p - _b, [_a <= _b]),
        ),
    ),
    Theorem(
        name="when drafts never fail",
        statement="With k i.i.d. drafts alpha* = 1 if and only if p(S) >= q(S)^k for every set S of tokens.",
        source="khisti2025multidraft, two identical drafts (k = 2)",
        assumed=(FORMULA, "Pr(all drafts in S) = q(S)^k; the minimum over sets is at one of them"),
        steps=(
            always(
                "1 + min(0, m) = 1 if and only if m >= 0, m the least p(S) - q(S)^k",
                (1 + least(_low, z3.RealVal(0)) == 1) == (_low >= 0),
            ),
        ),
    ),
)
