"""The lemmas of HSD about branches: what a branch lacks, what it has too much, and how levels add up.

Within the branch of a prefix with joint probabilities P (target) and Q (proposal), a child x has Pp
and Qq; D+ = sum (Pp - Qq)+ is the paper's D(p, q), D- = sum (Qq - Pp)+ its D(q, p).
"""

import sympy
import z3

from draftproof.proofs_check.induction.greedy import LESS, MORE, P, Q
from draftproof.proofs_check.induction.steps import (
    ROWS,
    Theorem,
    always,
    least,
    p,
    plus,
    pos,
    q,
    reals,
    summed,
)

more, less, PP, QQ, _p, _q, t = reals("D+ D- P Q p q t")

THEOREMS = (
    Theorem(
        name="recovery within a set",
        statement=(
            "Keeping words of a set with min(1, p/q) and drawing again within it recovers p on the set if "
            "and only if D(p, q) <= D(q, p) there."
        ),
        source="zhou2026hsd, Theorem 1",
        verifiers=(),
        assumed=("the mass that triggers a second draw is D(q, p), the mass not kept",),
        steps=(
            always(
                "w is kept with q min(1, p/q) = min(p, q) and lacks (p - q)+",
                _p - least(_p, _q) == plus(_p - _q),
                _p >= 0,
                _q >= 0,
            ),
            always(
                "second draws of total weight D(p, q) / D(q, p) must not exceed 1: if and only if",
                (more / less <= 1) == (more <= less),
                less > 0,
                more >= 0,
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
        verifiers=(),
        assumed=(ROWS,),
        steps=(
            summed("D+ - D- = P - Q", pos(P * p - Q * q) - pos(Q * q - P * p), P - Q),
            always(
                "D+ <= D- if and only if P <= Q",
                (more <= less) == (PP <= QQ),
                more - less == PP - QQ,
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
            "The positive asymmetries of the child branches of a prefix add up to the prefix's own D(p, q), "
            "the negative ones to D(q, p)."
        ),
        source="zhou2026hsd, Theorem 4",
        verifiers=(),
        assumed=(ROWS, "the asymmetry of a child's branch is Pp - Qq ('asymmetry of a branch')"),
        steps=(
            summed("sum of the positive parts of Pp - Qq is D+", pos(P * p - Q * q), MORE),
            summed("sum of the negative parts is D-", pos(Q * q - P * p), LESS),
            summed("and their difference is again P - Q", P * p - Q * q, MORE - LESS),
        ),
    ),
)
