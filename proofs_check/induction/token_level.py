"""Rules that go down token by token: token verification, and those whose node emits a token of the target."""

import sympy

from draftproof.proofs_check.induction.one_node import STEPS, S
from draftproof.proofs_check.induction.steps import ROWS, Theorem, algebra, always, every_token, kept, summed
from draftproof.proofs_check.induction.terms import a, least, meet, p, pos, q, reals, total

_p, _q, _s, _g = reals("p q s g")
px, py, g = sympy.symbols("p_x p_y g", positive=True)
TAIL = "E[tau] = sum over l of Pr(tau >= l), a sum over the words x^l"
CLAIM = (ROWS, "the claim for less depth (induction); with nothing drafted Y ~ p by definition")
MATCHED = (
    kept("x is drawn and accepted with q min(1, p / q) = min(p, q)", _p, _q),
    summed("the mass rejected is 1 - sum min(p, q) = sum (p - q)+", q - meet(p, q), total(pos(p - q))),
    algebra(
        "so token x gets (p - q)+ from the residual",
        total(pos(p - q)) * (pos(p - q) / total(pos(p - q))),
        pos(p - q),
    ),
    every_token("in all min(p, q) + (p - q)+ = p", meet(p, q) + pos(p - q), p),
)


THEOREMS = (
    # By induction on the tokens still drafted. Claim: after an accepted prefix, what is emitted follows
    # the target. With nothing drafted Y ~ p. Otherwise the one-node lemma holds with a = 1: a child is kept
    # with min(1, p / q), and what follows it has, by the claim, the law of its own target.
    Theorem(
        name="token is lossless",
        statement=(
            "Token verification is lossless: it emits the target's law for every vocabulary, depth, p and q, "
            "zeros included."
        ),
        source="leviathan2023fast, Algorithm 1; chen2023accelerating",
        verifiers=("token",),
        assumed=(
            ROWS,
            "the claim for one token less (induction); with no drafted token Y ~ p by definition",
            "the emitted block is continued by the target itself",
        ),
        steps=(
            *STEPS,
            summed("at a = 1 the mass rejected is sum (p - q)+, so h = 1", q - meet(p, q), total(pos(p - q))),
            algebra("the general lemma at a = 1 is this case", (S + 1 - a).subs(a, 1), S.subs(a, 1)),
        ),
    ),
    Theorem(
        name="mean of token verification",
        statement=(
            "E[tau] of token verification is the sum over words x^l of prod min(p, q): every vocabulary "
            "and depth."
        ),
        source="leviathan2023fast, expected number of accepted tokens",
        assumed=(TAIL, "token by token the coins are independent"),
        steps=(
            kept("x is drafted and kept with q min(1, p / q) = min(p, q)", _p, _q),
            always(
                "where q = 0 it is never drafted, and min(p, q) = 0", least(_p, _q) == 0, [_q == 0, _p >= 0]
            ),
        ),
    ),
    # Rules that go down node by node: the token that comes out of every node follows the target.
    #
    # By induction on the depth below: what comes out of a node is a token x ~ p. Drafted, it is an accepted
    # child, and the claim holds below it; not drafted, it is Y. So it is enough that token x gets p(x).
    Theorem(
        name="drawing from the target is lossless",
        statement=(
            "Naive sampling and sampling-match, which draw from the target and see what was drafted, are "
            "lossless on every draft: every vocabulary and depth."
        ),
        source="miao2024specinfer, naive sampling; kwon2023vllm",
        verifiers=("nss", "sampling-match"),
        assumed=CLAIM,
        steps=(
            algebra(
                "drafted with any probability g, x comes out with g p + (1 - g) p = p",
                g * px + (1 - g) * px,
                px,
            ),
        ),
    ),
    Theorem(
        name="the one-hot rule is lossless",
        statement=(
            "The one-hot rule, which accepts each child with p(x), else takes x out of p, is lossless on "
            "every draft, deterministic or sampled: every vocabulary and depth."
        ),
        source="li2024eagle2, evaluate_posterior",
        verifiers=("one-hot",),
        assumed=(*CLAIM, "where p(x) = 1 the child is accepted, and nothing is renormalised"),
        steps=(
            algebra(
                "y is left with (1 - p(x)) p(y) / (1 - p(x)) = p(y): taking x out changes no token's chance",
                (1 - px) * (py / (1 - px)),
                py,
            ),
        ),
    ),
    Theorem(
        name="one judged draft is lossless",
        statement=(
            "Judging one token x ~ d with min(1, p / d), else y ~ norm((p - d)+), is lossless whatever d is: "
            "NaiveTree (d = q, the first child), the greedy draft (d = norm(q off T)), importance-weighted "
            "selection and Global Resolution (d the selected token's law); every vocabulary and depth."
        ),
        source=(
            "thomas2026delayed, NaiveTree; hu2025towards, greedy draft; khisti2025multidraft, Theorem 1; "
            "thomas2026global"
        ),
        verifiers=("naive-tree", "hu-greedy", "khisti", "global-resolution"),
        assumed=(*CLAIM, "the judged token has exactly the law d (here written q) that it is judged with"),
        steps=MATCHED,
    ),
    Theorem(
        name="plans are lossless",
        statement=(
            "Every plan S of the membership-cost transport problem gives a lossless rule: child i of the "
            "drawn set t is accepted with S(i, t) / Pr(t), else Y ~ norm(p - sum_t S(., t)); every "
            "vocabulary and depth."
        ),
        source="sun2023spectr, Section 3",
        verifiers=("optimal-transport",),
        assumed=(*CLAIM, "S >= 0, sum_i S(i, t) <= Pr(t), g(i) = sum_t S(i, t) <= p(i)"),
        steps=(
            always("what is left of p is not negative", _p - _g >= 0, [_g <= _p]),
            algebra(
                "of mass 1 - G it is what no child took: token x gets (1 - G) (p - g) / (1 - G)",
                (1 - py) * ((px - g) / (1 - py)),
                px - g,
            ),
            algebra("in all g + (p - g) = p", g + (px - g), px),
        ),
    ),
)
