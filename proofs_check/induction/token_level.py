"""Rules that go down token by token: token verification, and those whose node emits a token of the target."""

import sympy

from draftproof.proofs_check.induction.one_node import STEPS
from draftproof.proofs_check.induction.steps import ROWS, Corollary, Theorem, algebra, always, kept, summed
from draftproof.proofs_check.induction.terms import least, meet, p, plus, pos, q, reals, total

_p, _q = reals("p q")
g = sympy.Symbol("g", positive=True)
NODE = "every tree and path"
TAIL = "E[tau] = sum over l of Pr(tau >= l), a sum over the words x^l"
CLAIM = (ROWS, "the claim for less depth (induction); with nothing drafted Y ~ p by definition")
REJECTED = summed("the mass rejected is 1 - sum min(p, q) = sum (p - q)+", q - meet(p, q), total(pos(p - q)))
EMITTED = always("token x gets min(p, q) + (p - q)+ = p in all", least(_p, _q) + plus(_p - _q) == _p)


THEOREMS = (
    # By induction on the tokens still drafted. Claim: after an accepted prefix, what is emitted follows
    # the target. With nothing drafted Y ~ p. Otherwise the one-node lemma holds with a = 1: a child is kept
    # with min(1, p / q), and what follows it has, by the claim, the law of its own target.
    Theorem(
        key="token-lossless",
        statement="Token verification is lossless.",
        source="leviathan2023fast, Algorithm 1; chen2023accelerating",
        verifiers=("token",),
        assumed=(*CLAIM, "the emitted block is continued by the target itself"),
        steps=(*STEPS, REJECTED),
    ),
    Theorem(
        key="token-mean",
        statement="E[tau] of token verification is the sum over words x^l of prod min(p, q).",
        source="leviathan2023fast, expected number of accepted tokens",
        assumed=(TAIL, "token by token the coins are independent"),
        steps=(
            kept("x is drafted and kept with q min(1, p / q) = min(p, q)", _p, _q),
            always("where q = 0 both it and min(p, q) are 0", least(_p, _q) == 0, [_q == 0, _p >= 0]),
        ),
    ),
    # Rules that go down node by node: the token that comes out of every node follows the target.
    #
    # By induction on the depth below: what comes out of a node is a token x ~ p. Drafted, it is an accepted
    # child, and the claim holds below it; not drafted, it is Y. So it is enough that token x gets p(x).
    Theorem(
        key="nss-lossless",
        statement="Naive speculative sampling, which draws from the target, is lossless.",
        source="miao2024specinfer, naive sampling",
        scope="every draft",
        verifiers=("nss", "sampling-match"),
        assumed=CLAIM,
        steps=(algebra("drafted with probability g, x gets g p + (1 - g) p = p", g * p + (1 - g) * p, p),),
        corollaries=(
            Corollary(
                "sampling-match-lossless",
                "Sampling-match, which draws from the target, is lossless.",
                "kwon2023vllm, drafts without probabilities",
                "every chain",
            ),
        ),
    ),
    Theorem(
        key="one-hot-lossless",
        statement="The one-hot rule accepts each child with p(x), else takes x out of p: it is lossless.",
        source="li2024eagle2, evaluate_posterior",
        scope="every draft",
        verifiers=("one-hot",),
        assumed=(
            *CLAIM,
            "where p(x) = 1 the child is accepted, and nothing is renormalised",
            "rejected with 1 - p(x), x is taken out by dividing by 1 - p(x): every other y keeps p(y)",
        ),
    ),
    Theorem(
        key="naive-tree-lossless",
        statement="Judging one token x ~ d with min(1, p / d), else drawing from norm((p - d)+), is lossless "
        "whatever d is; NaiveTree judges the first child (d = q).",
        source="thomas2026delayed, NaiveTree",
        scope=NODE,
        verifiers=("naive-tree", "hu-greedy", "khisti", "global-resolution"),
        assumed=(*CLAIM, "the judged token has exactly the law d (here written q) that it is judged with"),
        steps=(kept("x is drawn and accepted with q min(1, p / q) = min(p, q)", _p, _q), REJECTED, EMITTED),
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
