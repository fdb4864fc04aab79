"""One block is enough: what is lossless when the target completes it is lossless when it is repeated."""

import sympy

from draftproof.proofs_check.induction.steps import Theorem, algebra

f, g, p = sympy.symbols("f g p", nonnegative=True)

THEOREM = Theorem(
    name="one block is enough",
    statement=(
        "A verifier's output over any number of iterations follows the target if and only if one block, "
        "completed by the target to the draft's depth plus one, does: on chains and on trees."
    ),
    source="sun2025block, Lemma 2; weng2025traversal, Lemma A.1",
    verifiers=(),
    assumed=(
        "iterations look at the text so far only; f(o) is the probability of output o",
        "p(w | o) is the target's probability of going on from o to the word w, g(w | o) that of one "
        "iteration less, completed by the target",
        "fewer iterations go on like the target (induction): g = p",
    ),
    steps=(
        algebra(
            "every output adds f g = f p to w: the sum over outputs stays the one of a single block",
            (f * g).subs(g, p),
            f * p,
        ),
        algebra("and a single iteration, completed, is the case g = p itself", f * p - (f * g).subs(g, p), 0),
    ),
)
