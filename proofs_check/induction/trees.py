"""Trees: recursive rejection, Traversal Verification, the lift of single-step rules, layered transport."""

import sympy

from draftproof.proofs_check.induction.one_node import DRAWN, KEPT, STEPS
from draftproof.proofs_check.induction.steps import ROWS, Corollary, Theorem, algebra, always
from draftproof.proofs_check.induction.terms import least, p, plus, q, reals
from draftproof.proofs_check.induction.token_level import EMITTED, REJECTED

c, e, g, left, w = sympy.symbols("c e g left w", positive=True)
_c, _d, _e, _q, _r, _s, _t = reals("c D e q r s t")
DRAWN_FROM_Q = "each sibling is drawn from the row q that the rule divides by, and tried in drawing order"


THEOREMS = (
    # By induction on the siblings still to try and the depth below. Claim: with current row p, whatever
    # the laws of the siblings still to come, what is emitted at and below the node follows p first and
    # then the target. No sibling left: Y ~ p. Otherwise the first, x ~ q, is accepted with mass min(p, q)
    # and followed by its target's law (claim one level down); else, whichever x was rejected, the row is
    # p' = norm((p - q)+) and the claim holds for p' and the siblings left. Without replacement their laws
    # depend on x, but the claim is for every such law, and p' does not depend on x.
    Theorem(
        key="recursive-lossless",
        statement="Recursive rejection in drawing order is lossless, with and without replacement.",
        source="miao2024specinfer, Algorithm 2; jeon2024recursive, Algorithm 1; yang2024multicandidate",
        scope="every tree",
        verifiers=("specinfer", "rrs"),
        assumed=(
            ROWS,
            DRAWN_FROM_Q,
            "the claim for fewer siblings and for less depth (induction); with none left Y ~ p by definition",
        ),
        steps=(
            *DRAWN,
            REJECTED,
            always("if that mass is 0, no token has excess", _e == 0, [_e >= 0, _d >= _e, _d == 0]),
            EMITTED,
        ),
    ),
    # By induction on the subtree and the siblings left. Claim: a node with rate a and row p, whatever
    # the laws of its children still to come, is accepted at or below it with probability a, and what is
    # emitted then follows p and the target. No child left: accepted with a, Y ~ p. Otherwise the first
    # child x ~ q has rate min(1, a p / q), which by the claim is its total acceptance; rejected, whichever
    # x it was, the node has row p' = norm((a p - q)+) and rate a' = S / (S + 1 - a), and the claim
    # holds for those and the children left. Without replacement their laws depend on x; the claim is for
    # every law. The siblings left add (S + 1 - a) a' p' = (a p - q)+.
    Theorem(
        key="traversal-lossless",
        statement="Traversal Verification in drawing order is lossless.",
        source="weng2025traversal, Theorem 3.3 and Algorithm 3",
        scope="every tree, both ways of drawing",
        verifiers=("traversal",),
        assumed=(
            ROWS,
            DRAWN_FROM_Q,
            "the claim for smaller subtrees and fewer siblings (induction); a leaf: its rate, Y ~ p",
        ),
        steps=(*STEPS, always("the root's rate stays 1: S / (S + 1 - 1)", _s / (_s + 1 - 1) == 1, [_s > 0])),
        corollaries=(
            Corollary(
                "traversal-rate",
                "A subtree of rate a is kept with probability a; what is emitted then follows the target.",
                "weng2025traversal, Lemma A.2",
            ),
        ),
    ),
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
    # Down the chain the rate a(x) = min(1, a(parent) p / q) is the recursion of w, from 1 at the root.
    Theorem(
        key="traversal-is-block-on-a-chain",
        statement="On a chain Traversal Verification keeps l tokens with block verification's w_l.",
        source="weng2025traversal, Theorem 3.4, Lemma B.1 and Lemma B.2",
        assumed=(
            "'traversal-lossless': the subtree below x^l is kept with probability a(x^l) exactly",
            "a(x) = min(1, a(parent) p / q), from 1 at the root: by definition the recursion of w",
            "'block-optimal'",
        ),
        steps=KEPT,
    ),
    # A rule gives, for a sub-probability row t = a p and drawn children c_1 .. c_k, exclusive masses
    # w_1 .. w_k of sum at most 1, so that no token gets more than t(x) on average. The lift tries child j
    # with rate w_j / left_j, left_j = 1 - w_1 - .. - w_{j-1}; none kept, the node is kept with
    # (a - A) / (1 - A), A = E[sum w], and Y ~ norm(r), r(x) = a p(x) - g(x), g(x) the mass given to x.
    # So the node is kept with A + (a - A) = a, and token x gets g + r = a p.
    Theorem(
        key="lift-lossless",
        statement="The lift of a valid single-step rule from leaves to root is lossless.",
        source="our derivation; with recursive rejection's masses it is traversal (weng2025traversal)",
        scope="every tree and rule",
        verifiers=("lifted",),
        assumed=(
            "the rule is valid: w_j >= 0, sum w_j <= 1, and g(x) = E[sum of w_j with c_j = x] <= a p(x)",
            "the claim for the children's subtrees: of rate b, accepted with probability b, then like p",
            "sums over the vocabulary are linear: total g = A and total p = 1, so total r = a - A",
        ),
        steps=(
            algebra(
                "child j is kept with w_j, the next is reached with left_j (1 - w_j / left_j) = left_j - w_j",
                left * (1 - w / left),
                left - w,
            ),
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
        source="draftproof, docs/layered.md",
        scope="every tree, chain and set of paths",
        verifiers=("layered",),
        assumed=(
            "the plan is valid: f >= 0, sum over o of f(o, vx) <= e(v)(x), sum over vx of f(o, vx) <= L P(o)",
            "a group's draws are independent of what earlier groups of the level left; E[left] = L",
            "SPLIT: rows e_o(x) of mass w(o) = f / (L P(o)) with mean over o a multiple of p(.|x)",
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
