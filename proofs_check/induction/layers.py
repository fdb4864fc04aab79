"""`layered` is lossless: rows are handed down level by level, stops are tried from the deepest up.

Downwards every drafted node v has a row e(v), what is to be emitted just below it, |e(v)| its mass. A
plan gives f(o, vx) of e(v)(x) to child x in the joint outcome o of the level's draws, P(o) its
probability, L the mean share still to give, `left` the realised one.
"""

import sympy

from draftproof.proofs_check.induction.steps import Theorem, algebra

A, M, f, P, L, e, g, p, W, s = sympy.symbols("A M f P L e g p W s", positive=True)

THEOREM = Theorem(
    name="layered is lossless",
    statement=(
        "Layered transport emits the target's law on every tree, chain and set of paths, whatever the plan: "
        "every vocabulary."
    ),
    source="draftproof, docs/layered.md",
    verifiers=("layered",),
    assumed=(
        "the plan is valid: f >= 0, sum over o of f(o, vx) <= e(v)(x), sum over vx of f(o, vx) <= L P(o)",
        "a group's draws are independent of what earlier groups of the level left; E[left] = L",
        "SPLIT: rows e_o(x) of mass w(o) = f / (L P(o)) with mean over o a multiple of p(.|x); it and the "
        "plan look at nothing below the level that they judge",
        "the claim one level deeper (induction): below v what is emitted follows e(v), then the target",
    ),
    steps=(
        algebra("a child is entered with mean mass P(o) L f / (L P(o)) = f(o, vx)", P * L * (f / (L * P)), f),
        algebra(
            "its rows average to W p(.|x), W = sum of P(o) w(o): token y below x gets W p(y|x)", W * p, p * W
        ),
        algebra(
            "v keeps e(v)(x) - g for its residual, g = sum over o of f(o, vx): in all e(v)(x)", (e - g) + g, e
        ),
        algebra("and then p(.|x) follows x in both parts: (e - g) p + g p = e p", (e - g) * p + g * p, e * p),
        algebra(
            "upwards: 1 - A of the level's stops are reached, A the mean mass below, and v stops there with "
            "s / (1 - A)",
            (1 - A) * (s / (1 - A)),
            s,
        ),
        algebra("so the level stops at or below with A + (M - A) = M, the mass of its rows", A + (M - A), M),
    ),
)
