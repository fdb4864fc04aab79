"""The one-node lemma of block verification, of HSD and of traversal on a chain.

A node is entered with rate a in [0, 1], target row p and proposal row q. A child x ~ q is kept
with total probability min(1, a p / q), and what is kept follows p. Otherwise the node is kept with
h = S / (S + 1 - a), S = sum (a p - q)+, and goes on with the row (a p - q)+ / S.

Claim: the node is kept with total probability a, and what is kept follows p: token x gets a p(x).
"""

import z3

from draftproof.proofs_check.induction.steps import Step, always, kept, summed
from draftproof.proofs_check.induction.terms import a, least, meet, p, plus, pos, q, reals, total

S = total(pos(a * p - q))
REST = total(pos(q - a * p))  # the mass that is not kept below the node; the steps show it is S + 1 - a
_p, _q, _a, _s = reals("p q a s")

KEPT: tuple[Step, ...] = (
    summed("the node is kept with total probability a", meet(a * p, q) + pos(a * p - q), a),
    always(
        "rates stay in [0, 1]: h = S / (S + 1 - a) does",
        z3.And(_s / (_s + 1 - _a) >= 0, _s / (_s + 1 - _a) <= 1),
        [_s >= 0, _a >= 0, _a <= 1, _s + 1 - _a > 0],
    ),
)
STEPS: tuple[Step, ...] = (
    kept("where q > 0, a drawn child x is kept with mass q min(1, a p / q) = min(a p, q)", _a * _p, _q),
    always(
        "where q = 0 no child is drawn, and min(a p, q) = 0 is what it gets",
        least(_a * _p, z3.RealVal(0)) == 0,
        [_p >= 0, _a >= 0],
    ),
    summed("the mass not kept below is 1 - sum min(a p, q) = S + 1 - a", q - meet(a * p, q), S + 1 - a),
    summed("and equals sum (q - a p)+", pos(q - a * p), S + 1 - a),
    always(
        "if it is 0, then S = 0 and a = 1, and no mass is left: nothing is lost by the convention h = 1",
        z3.And(_s == 0, _a == 1),
        [_s >= 0, _a <= 1, _s + 1 - _a == 0],
    ),
    always(
        "if S = 0, no token has excess: a sum of numbers >= 0 that is 0 has no positive one",
        _p == 0,
        [_p >= 0, _s >= _p, _s == 0],
    ),
    always(
        "token x gets min(a p, q) + (a p - q)+ = a p in all",
        least(_a * _p, _q) + plus(_a * _p - _q) == _a * _p,
    ),
    *KEPT,
)
