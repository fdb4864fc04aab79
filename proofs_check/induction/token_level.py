"""Rules that go down token by token, where what comes out of every node is a token of the target."""

import sympy

from draftproof.proofs_check.induction.steps import ROWS, Corollary, Theorem, algebra, always, kept, summed
from draftproof.proofs_check.induction.terms import least, meet, p, plus, pos, q, reals, total

_p, _q = reals("p q")
g = sympy.Symbol("g", positive=True)
NODE = "every tree and path"
CLAIM = (ROWS, "the claim for less depth (induction); with nothing drafted Y ~ p by definition")


THEOREMS = (
    # Rules that go down node by node: the token that comes out of every node follows the target.
    #
    # By induction on the depth below: what comes out of a node is a token x ~ p. Drafted, it is an accepted
    # child, and the claim holds below it; not drafted, it is Y. So it is enough that token x gets p(x).
    Theorem(
        key="sampling-match-lossless",
        statement="Sampling-match, which draws from the target, is lossless.",
        source="kwon2023vllm, drafts without probabilities",
        verifiers=("sampling-match",),
        assumed=CLAIM,
        steps=(algebra("drafted with probability g, x gets g p + (1 - g) p = p", g * p + (1 - g) * p, p),),
    ),
    Theorem(
        key="naive-tree-lossless",
        statement="Judging one token x ~ d with min(1, p / d), else drawing from norm((p - d)+), is lossless "
        "whatever d is; NaiveTree judges the first child (d = q).",
        source="thomas2026delayed, NaiveTree",
        scope=NODE,
        verifiers=("naive-tree", "hu-greedy", "khisti", "global-resolution"),
        assumed=(*CLAIM, "the judged token has exactly the law d (here written q) that it is judged with"),
        steps=(
            kept("x is drawn and accepted with q min(1, p / q) = min(p, q)", _p, _q),
            summed(
                "the mass rejected is 1 - sum min(p, q) = sum (p - q)+", q - meet(p, q), total(pos(p - q))
            ),
            always("token x gets min(p, q) + (p - q)+ = p in all", least(_p, _q) + plus(_p - _q) == _p),
        ),
        corollaries=(
            Corollary(
                "hu-greedy-lossless",
                "The rule for the top n-1 tokens T and one sample, d = norm(q off T), is lossless.",
                "hu2025towards, greedy draft",
                "every greedy draft",
            ),
            Corollary(
                "khisti-lossless",
                "Selecting a draft by any importance weights and judging it as a single one is lossless.",
                "khisti2025multidraft, Theorem 1",
            ),
            Corollary(
                "global-resolution-lossless",
                "Global Resolution, its float solution judged by its exact law, is lossless.",
                "thomas2026global, global resolution for i.i.d. drafts",
            ),
        ),
    ),
)
