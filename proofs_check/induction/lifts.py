"""The lift of single-step rules to trees, and layered transport."""

import sympy

from draftproof.proofs_check.induction.steps import Theorem, algebra
from draftproof.proofs_check.induction.terms import a, p

A, L, M, P, W, e, f, g, left, s, w = sympy.symbols("A L M P W e f g left s w", positive=True)


THEOREMS = (
    # A rule gives, for a sub-probability row t = a p and drawn children c_1 .. c_k, exclusive masses
    # w_1 .. w_k of sum at most 1, so that no token gets more than t(x) on average. The lift tries child j
    # with rate w_j / left_j, left_j = 1 - w_1 - .. - w_{j-1}; none kept, the node is kept with
    # (a - A) / (1 - A), A = E[sum w], and Y ~ norm(r), r(x) = a p(x) - g(x), g(x) the mass given to x.
    Theorem(
        name="the lift is lossless",
        statement=(
            "The lift of a valid single-step rule from leaves to root is lossless on every tree and "
            "vocabulary."
        ),
        source="our derivation; with recursive rejection's masses it is traversal (weng2025traversal)",
        verifiers=("lifted",),
        assumed=(
            "the rule is valid: w_j >= 0, sum w_j <= 1, and g(x) = E[sum of w_j with c_j = x] <= a p(x)",
            "the claim for the children's subtrees: one of rate b is accepted with probability b, then "
            "follows p",
            "sums over the vocabulary are linear: total g = A and total p = 1, so total r = a - A",
        ),
        steps=(
            algebra(
                "reached with probability left_j, child j is kept with left_j (w_j / left_j) = w_j",
                left * (w / left),
                w,
            ),
            algebra(
                "and child j + 1 is reached with left_j (1 - w_j / left_j) = left_j - w_j",
                left * (1 - w / left),
                left - w,
            ),
            algebra(
                "if A < 1 the node itself is kept with mass (1 - A) (a - A) / (1 - A) = a - A",
                (1 - A) * ((a - A) / (1 - A)),
                a - A,
            ),
            algebra(
                "if a > A, token x gets (a - A) r / (a - A) = r there",
                (a - A) * ((a * p - g) / (a - A)),
                a * p - g,
            ),
            algebra("in all token x gets g + r = a p", g + (a * p - g), a * p),
            algebra("and the node is kept with A + (a - A) = a", A + (a - A), a),
        ),
    ),
    # Rows are handed down level by level, stops are tried from the deepest level up. On the way down every
    # drafted node v has a row e(v) of mass |e(v)|: what is to be emitted just below v. A plan gives the
    # part f(o, vx) of e(v)(x) to child x in the joint outcome o of the level's draws, of probability P(o).
    # `left` is the part of the level's mass that is still to be given, L its mean.
    Theorem(
        name="layered is lossless",
        statement=(
            "Layered transport is lossless on every tree, chain and set of paths, whatever its plan: every "
            "vocabulary."
        ),
        source="draftproof, docs/layered.md",
        verifiers=("layered",),
        assumed=(
            "the plan is valid: f >= 0, sum over o of f(o, vx) <= e(v)(x), sum over vx of f(o, vx) <= L P(o)",
            "a group's draws are independent of what earlier groups of the level left; E[left] = L",
            "SPLIT: rows e_o(x) of mass w(o) = f / (L P(o)) with mean over o a multiple of p(.|x); it and "
            "the plan look at nothing below the level that they judge",
            "the claim one level deeper (induction): below v what is emitted follows e(v), then the target",
        ),
        steps=(
            algebra(
                "a child is entered with mean mass P(o) L f / (L P(o)) = f(o, vx)", P * L * (f / (L * P)), f
            ),
            algebra(
                "its rows average to W p(.|x), W = sum of P(o) w(o): token y below x gets W p(y|x)",
                W * p,
                p * W,
            ),
            algebra(
                "v keeps e(v)(x) - g for its residual, g = sum over o of f(o, vx): in all e(v)(x)",
                (e - g) + g,
                e,
            ),
            algebra(
                "and then p(.|x) follows x in both parts: (e - g) p + g p = e p", (e - g) * p + g * p, e * p
            ),
            algebra(
                "upwards: 1 - A of the level's stops are reached, A the mean mass below, and v stops there "
                "with s / (1 - A)",
                (1 - A) * (s / (1 - A)),
                s,
            ),
            algebra(
                "so the level stops at or below with A + (M - A) = M, the mass of its rows", A + (M - A), M
            ),
        ),
    ),
)
