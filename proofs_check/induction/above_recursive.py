"""Traversal is never below recursive rejection on i.i.d. siblings up to depth two, for any vocabulary.

Both reach the root's children with the same rows and probabilities, for the root's rate stays 1. A
child v is kept with the same probability b: 1 for each. Its leaves are judged by recursive rejection
at rate 1, after v was kept, and by traversal at rate b. Entered with rate b <= 1 is, per unit of
demand, like entered with rate 1 and c = 1 / b as many draws of every token: the j-th leaf is reached
with c_j, the demand left is r_j, and what follows shows that more draws never serve less.
"""

import sympy

from draftproof.proofs_check.induction.steps import (
    ROWS,
    Theorem,
    algebra,
    always,
    every_token,
    meet,
    p,
    plus,
    pos,
    q,
    reals,
)

c = sympy.Symbol("c", positive=True)
_c, _e, _q, _r, _s, _t = reals("c e q r s t")


THEOREM = Theorem(
    name="traversal is above recursive rejection, two levels",
    statement=(
        "On every tree of depth at most 2 with i.i.d. siblings Traversal Verification accepts at least as "
        "much as recursive rejection in expectation: every vocabulary, p and q, zeros included."
    ),
    source="open; measured in weng2025traversal",
    verifiers=(),
    assumed=(
        "'traversal is lossless': v is kept at or below with probability b, the one of recursive rejection",
        "siblings are i.i.d. and leaves below depth 1: what they accept is the demand that they serve",
        ROWS,
    ),
    steps=(
        every_token(
            "what a leaf serves and what is left add up: min(r, cq) + (r - cq)+ = r",
            meet(p, c * q) + pos(p - c * q),
            p,
        ),
        algebra(
            "rate b with draws q is b times rate 1 with draws q / b: b (p - q / b) = b p - q",
            c * (p - q / c),
            c * p - q,
        ),
        every_token(
            "the next leaf is reached with what was not kept: cq - min(r, cq) = (cq - r)+",
            c * q - meet(p, c * q),
            pos(c * q - p),
        ),
        always(
            "more draws and less demand leave no less reach: (cq - r)+ <= (eq - s)+",
            plus(_c * _q - _r) <= plus(_e * _q - _s),
            _c <= _e,
            _r >= _s,
            _q >= 0,
        ),
        always(
            "and no more demand: (r - cq)+ >= (s - eq)+",
            plus(_r - _c * _q) >= plus(_s - _e * _q),
            _c <= _e,
            _r >= _s,
            _q >= 0,
        ),
        always(
            "by induction over the leaves the demand left is smaller, so r - left, what is served, is larger",
            _t - _s >= _t - _r,
            _r >= _s,
        ),
        always("b <= 1 is c = 1 / b >= 1, and rate 1 is c = 1", 1 / _t >= 1, _t > 0, _t <= 1),
    ),
)
