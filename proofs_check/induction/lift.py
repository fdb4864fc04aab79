"""The lift of a single-step rule to trees is lossless, whatever the rule and the tree.

A rule gives, for a sub-probability row t = a p and drawn children c_1 .. c_k, exclusive masses
w_1 .. w_k of sum at most 1, so that no token gets more than t(x) on average. The lift tries child j
with rate w_j / left_j, left_j = 1 - w_1 - .. - w_{j-1}; none kept, the node is kept with
(a - A) / (1 - A), A = E[sum w], and Y ~ norm(r), r(x) = a p(x) - g(x), g(x) the mass given to x.
"""

import sympy

from draftproof.proofs_check.induction.steps import Theorem, a, algebra

A, g, p, left, w = sympy.symbols("A g p left w", nonnegative=True)

THEOREM = Theorem(
    name="the lift is lossless",
    statement="The lift of a valid single-step rule emits the target's law on every tree and vocabulary.",
    source="our derivation; with recursive rejection's masses it is traversal (weng2025traversal)",
    verifiers=("lifted",),
    assumed=(
        "the rule is valid: w_j >= 0, sum w_j <= 1, and g(x) = E[sum of w_j with c_j = x] <= a p(x)",
        "the claim for the children's subtrees: one of rate b is accepted with probability b, then follows p",
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
)
