"""Recursive rejection and Traversal Verification on trees."""

import sympy

from draftproof.proofs_check.induction.one_node import STEPS, S
from draftproof.proofs_check.induction.steps import ROWS, Theorem, algebra, always, every_token, summed
from draftproof.proofs_check.induction.terms import ONE, a, least, meet, p, plus, pos, q, reals, total

D = total(pos(p - q))
c = sympy.Symbol("c", positive=True)
_c, _d, _e, _p, _q, _r, _s, _t, _w = reals("c D e p q r s t w")


THEOREMS = (
    # By induction on the siblings still to try and the depth below. Claim: with current row p, whatever
    # the laws of the siblings still to come, what is emitted at and below the node follows p first and
    # then the target. No sibling left: Y ~ p. Otherwise the first, x ~ q, is accepted with mass min(p, q)
    # and followed by its target's law (claim one level down); else, whichever x was rejected, the row is
    # p' = norm((p - q)+) and the claim holds for p' and the siblings left. Without replacement their laws
    # depend on x, but the claim is for every such law, and p' does not depend on x.
    Theorem(
        name="recursive rejection is lossless",
        statement=(
            "Recursive rejection, with replacement (specinfer) and without (rrs), is lossless in drawing "
            "order: every tree, vocabulary, p and q, zeros included."
        ),
        source="miao2024specinfer, Algorithm 2; jeon2024recursive, Algorithm 1; yang2024multicandidate",
        verifiers=("specinfer", "rrs"),
        assumed=(
            ROWS,
            "each sibling is drawn from the row q that the rule divides by, and then tried in drawing order",
            "the claim for fewer siblings and for less depth (induction); with none left Y ~ p by definition",
        ),
        steps=(
            *STEPS[:2],
            summed("the mass rejected is 1 - sum min(p, q) = D = sum (p - q)+", q - meet(p, q), D),
            algebra(
                "if D is not 0, what follows gives token x the mass D p' = (p - q)+",
                D * (pos(p - q) / D),
                pos(p - q),
            ),
            always(
                "if D = 0 nothing is rejected, and no token has excess", _e == 0, [_e >= 0, _d >= _e, _d == 0]
            ),
            every_token("token x gets min(p, q) + (p - q)+ = p in all", meet(p, q) + pos(p - q), p),
            summed("p' has mass D / D: it is a row again", pos(p - q), D),
        ),
    ),
    # By induction on the subtree and the siblings left. Claim: a node with rate a and row p, whatever
    # the laws of its children still to come, is accepted at or below it with probability a, and what is
    # emitted then follows p and the target. No child left: accepted with a, Y ~ p. Otherwise the first
    # child x ~ q has rate min(1, a p / q), which by the claim is its total acceptance; rejected, whichever
    # x it was, the node has row p' = norm((a p - q)+) and rate a' = S / (S + 1 - a), and the claim
    # holds for those and the children left. Without replacement their laws depend on x; the claim is for
    # every law.
    Theorem(
        name="traversal is lossless",
        statement=(
            "Traversal Verification is lossless and accepts a subtree of rate a with total probability a: "
            "every tree, vocabulary, p and q, zeros included, with and without replacement, in drawing "
            "order."
        ),
        source="weng2025traversal, Theorem 3.3 and Algorithm 3",
        verifiers=("traversal",),
        assumed=(
            ROWS,
            "each sibling is drawn from the row q that the rule divides by, and then tried in drawing order",
            "the claim for smaller subtrees and fewer siblings (induction); a leaf: its rate, Y ~ p",
        ),
        steps=(
            *STEPS,
            algebra(
                "the siblings left add (S + 1 - a) a' p' = (a p - q)+",
                (S + 1 - a) * (S / (S + 1 - a)) * (pos(a * p - q) / S),
                pos(a * p - q),
            ),
            always("the root's rate stays 1: S / (S + 1 - 1)", _s / (_s + 1 - 1) == 1, [_s > 0]),
        ),
    ),
    # Both reach the root's children with the same rows and probabilities, for the root's rate stays 1. A
    # child v is kept with the same probability b: 1 for each. Its leaves are judged by recursive rejection
    # at rate 1, after v was kept, and by traversal at rate b. Entered with rate b <= 1 is, per unit of
    # demand, like entered with rate 1 and c = 1 / b as many draws of every token: the j-th leaf is reached
    # with c_j, the demand left is r_j, and what follows shows that more draws never serve less.
    Theorem(
        name="traversal is above recursive rejection, two levels",
        statement=(
            "On every tree of depth at most 2 with i.i.d. siblings Traversal Verification accepts at least "
            "as much as recursive rejection in expectation: every vocabulary, p and q, zeros included."
        ),
        source="open; measured in weng2025traversal",
        assumed=(
            "'traversal is lossless': v is kept at or below with probability b, the one of recursive "
            "rejection",
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
                [_c <= _e, _r >= _s, _q >= 0],
            ),
            always(
                "and no more demand: (r - cq)+ >= (s - eq)+",
                plus(_r - _c * _q) >= plus(_s - _e * _q),
                [_c <= _e, _r >= _s, _q >= 0],
            ),
            always(
                "by induction over the leaves the demand left is smaller, so r - left, what is served, is "
                "larger",
                _t - _s >= _t - _r,
                [_r >= _s],
            ),
            always("b <= 1 is c = 1 / b >= 1, and rate 1 is c = 1", 1 / _t >= 1, [_t > 0, _t <= 1]),
        ),
    ),
    Theorem(
        name="traversal is block on a chain",
        statement=(
            "On one chain Traversal Verification accepts what block verification accepts, the most of any "
            "valid rule: it keeps at least l tokens with probability w_l; every vocabulary and depth."
        ),
        source="weng2025traversal, Theorem 3.4, Lemma B.1 and Lemma B.2",
        assumed=(
            "'traversal is lossless': the subtree below x^l is kept with probability a(x^l) exactly",
            "'block is optimal'",
        ),
        steps=(
            always(
                "down the chain a(x) = min(1, a(parent) p / q) is the recursion of w, from 1 at the root",
                least(ONE, _w * _p / _q) == least(ONE, _w * (_p / _q)),
                [_q > 0],
            ),
            *STEPS[-2:],
        ),
    ),
)
