"""Greedy block verification is lossless with the target it leaves behind, and as good as can be.

P, Q are the joint target and proposal probabilities of a prefix z, Pp and Qq those of its children.
Two claims, from the leaf up. (i) With z drafted, of mass Q, the draft is kept at or below z with mass
min(P, Q). (ii) Through every word y below z goes the mass that was kept at or below z, plus (P - Q)+
of what enters z by a residual and goes on with the modified rows norm((Pp - Qq)+): in all P p(y|z).
At the root P = Q = 1: nothing enters from above, and every word has its target probability.
"""

import sympy
import z3

from draftproof.proofs_check.induction.steps import ROWS, Corollary, Theorem, always, kept, summed
from draftproof.proofs_check.induction.terms import ONE, least, meet, p, plus, pos, q, reals, total

P, Q = sympy.symbols("P Q", nonnegative=True)
MORE = total(pos(P * p - Q * q))
LESS = total(pos(Q * q - P * p))
_more, _less, _P, _Q, _m = reals("D+ D- P Q shared")
DIFFERENCE = summed("D+ - D- = P - Q", pos(P * p - Q * q) - pos(Q * q - P * p), P - Q)
SHARED = (
    kept("a leaf is kept with Q min(1, P / Q) = min(P, Q)", _P, _Q),
    summed(
        "what is drafted and not kept below is Q - sum min(Pp, Qq) = D-", Q * q - meet(P * p, Q * q), LESS
    ),
    summed("sum min(Pp, Qq) = P - D+", meet(P * p, Q * q), P - MORE),
    DIFFERENCE,
    always(
        "of D- the part D- min(1, D+ / D-) = min(D+, D-) is kept here",
        z3.If(_less == 0, _less, _less * least(ONE, _more / _less)) == least(_more, _less),
        [_more >= 0, _less >= 0],
    ),
    always(
        "(i): sum min(Pp, Qq) + min(D+, D-) = min(P, Q)",
        _m + least(_more, _less) == least(_P, _Q),
        [_m == _P - _more, _m == _Q - _less],
    ),
)


THEOREMS = (
    Theorem(
        key="greedy-lossless",
        statement="Greedy block verification is lossless with the modified target that it leaves behind.",
        source="sun2025block, greedy block verification (appendix); zhou2026hsd, Algorithm 1 and Theorem 5",
        verifiers=("greedy-block", "hsd-naive"),
        assumed=(
            ROWS,
            "claims (i) and (ii) for the children (induction)",
            "after a stop the tokens up to the block's end are drawn from the modified rows",
            "a later block verified against those rows is lossless for whatever target it is given",
        ),
        steps=(
            *SHARED,
            always(
                "min(D+, D-) + (P - Q)+ = D+, kept here or from above, goes on with (Pp - Qq)+ / D+",
                least(_more, _less) + plus(_P - _Q) == _more,
                [_more - _less == _P - _Q],
            ),
            always(
                "(ii) at a leaf: min(P, Q) + (P - Q)+ = P, and below it the target goes on",
                least(_P, _Q) + plus(_P - _Q) == _P,
            ),
            always(
                "at the root P = Q = 1 gives (P - Q)+ = 0 and D+ = D-: it keeps all that reaches it",
                z3.And(plus(_P - _Q) == 0, _more == _less),
                [_P == 1, _Q == 1, _more - _less == _P - _Q],
            ),
        ),
        corollaries=(
            Corollary(
                "hsd-naive-lossless",
                "Naive HSD, with all positions after a stop drawn from the hierarchy, is lossless.",
                "zhou2026hsd, Algorithm 1 and Theorem 5",
            ),
            Corollary(
                "hsd-naive-resampling",
                "Naive HSD draws a word again with the positive part of p - q of the word as its mass.",
                "zhou2026hsd, Lemma 3",
            ),
        ),
    ),
    Theorem(
        key="greedy-mean",
        statement="In its first call no lossless verifier accepts more than greedy block verification, the "
        "sum over words of min(p, q).",
        source="sun2025block, greedy block verification (appendix)",
        assumed=(
            "E[tau] = sum over l and x^l of Pr(x^l drafted and at least l kept)",
            "kept tokens are drafted and emitted: of probability q(x^l) and, when lossless, p(x^l)",
            "claim (i) for the children (induction)",
        ),
        steps=(
            *SHARED,
            always(
                "a mass within p and within q is within min(p, q)", _m <= least(_P, _Q), [_m <= _P, _m <= _Q]
            ),
        ),
    ),
)
