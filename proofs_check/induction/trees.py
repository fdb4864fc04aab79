"""Trees: Traversal Verification beside recursive rejection, and layered transport."""

import sympy

from draftproof.proofs_check.induction.steps import ROWS, Theorem, algebra, always
from draftproof.proofs_check.induction.terms import least, p, plus, q, reals

c, e, g = sympy.symbols("c e g", positive=True)
_c, _e, _q, _r, _s, _t = reals("c e q r s t")


THEOREMS = (
    # Both reach the root's children with the same rows and probabilities, for the root's rate stays 1. A
    # child v is kept with the same probability b: 1 for each. Its leaves are judged by recursive rejection
    # at rate 1, after v was kept, and by traversal at rate b. Entered with rate b <= 1 is, per unit of
    # demand, like entered with rate 1 and c = 1 / b as many draws of every token: the j-th leaf is reached
    # with c_j, the demand left is r_j, and what follows shows that more draws never serve less.
    Theorem(
        key="traversal-above-recursive",
        statement="Traversal Verification never accepts less than recursive rejection on the same tree of "
        "depth at most 2 drawn with replacement.",
        source="open; measured in weng2025traversal",
        scope="every tree of depth 1 and 2, with replacement",
        assumed=(
            "'traversal-lossless': v is kept at or below with probability b, the one of recursive rejection",
            "siblings are i.i.d. and leaves below depth 1: what they accept is the demand that they serve",
            ROWS,
        ),
        steps=(
            always(
                "what a leaf serves and what is left add up: min(r, cq) + (r - cq)+ = r",
                least(_r, _c * _q) + plus(_r - _c * _q) == _r,
            ),
            algebra(
                "rate b with draws q is b times rate 1 with draws q / b: b (p - q / b) = b p - q",
                c * (p - q / c),
                c * p - q,
            ),
            always(
                "the next leaf is reached with what was not kept: cq - min(r, cq) = (cq - r)+",
                _c * _q - least(_r, _c * _q) == plus(_c * _q - _r),
            ),
            always(
                "more draws and less demand leave no less reach: (cq - r)+ <= (eq - s)+",
                plus(_c * _q - _r) <= plus(_e * _q - _s),
                [_c <= _e, _r >= _s, _q >= 0],
            ),
            always(
                "and no more demand: (r - cq)+ >= (s - eq)+; so over the leaves no less is served",
                plus(_r - _c * _q) >= plus(_s - _e * _q),
                [_c <= _e, _r >= _s, _q >= 0],
            ),
            always("b <= 1 is c = 1 / b >= 1, and rate 1 is c = 1", 1 / _t >= 1, [_t > 0, _t <= 1]),
        ),
    ),
    # Rows are handed down level by level, stops are tried from the deepest level up. On the way down every
    # drafted node v has a row e(v) of mass |e(v)|: what is to be emitted just below v. A plan gives the
    # part f(o, vx) of e(v)(x) to child x in the joint outcome o of the level's draws, of probability P(o).
    # `left` is the part of the level's mass that is still to be given, L its mean: a child is entered with
    # P(o) L f / (L P(o)) = f(o, vx). Upwards 1 - A of a level's stops are reached, A the mean mass below,
    # and v stops there with s / (1 - A): the level stops at or below with M, the mass of its rows.
    Theorem(
        key="layered-lossless",
        statement="Layered transport is lossless, whatever its plan.",
        source="draftproof, docs/findings.md",
        scope="every tree, chain and set of paths",
        verifiers=("layered",),
        assumed=(
            "the plan is valid: f >= 0, sum over o of f(o, vx) <= e(v)(x), sum over vx of f(o, vx) <= L P(o)",
            "a group's draws are independent of what earlier groups of the level left; E[left] = L",
            "SPLIT: rows e_o(x) of mass w(o) = f / (L P(o)) whose mean over o is a multiple of p(.|x)",
            "SPLIT and the plan look at nothing below the level that they judge",
            "the claim one level deeper (induction): below v what is emitted follows e(v), then the target",
        ),
        steps=(
            algebra(
                "v keeps e - g, its child g = sum over o of f(o, vx), p(.|x) follows: (e - g) p + g p = e p",
                (e - g) * p + g * p,
                e * p,
            ),
        ),
    ),
)
