"""E[tau] in closed form, for every vocabulary and depth."""

from draftproof.proofs_check.induction.accepting import STEPS
from draftproof.proofs_check.induction.block import THEOREM as BLOCK
from draftproof.proofs_check.induction.steps import ONE, Theorem, always, kept, least, reals

Q, w, p, q, b, t = reals("Q w p q kept t")
TAIL = "E[tau] = sum over l of Pr(tau >= l), a sum over the words x^l"

THEOREMS = (
    Theorem(
        name="mean of token verification",
        statement=(
            "E[tau] of token verification is the sum over words x^l of prod min(p, q): every vocabulary "
            "and depth."
        ),
        source="leviathan2023fast, expected number of accepted tokens",
        verifiers=(),
        assumed=(TAIL, "token by token the coins are independent"),
        steps=(
            kept("x is drafted and kept with q min(1, p / q) = min(p, q)", p, q),
            always("where q = 0 it is never drafted, and min(p, q) = 0", least(p, q) == 0, q == 0, p >= 0),
        ),
    ),
    Theorem(
        name="mean of block verification",
        statement=(
            "E[tau] of block verification is the sum over words x^l of q(x^l) w_l, carried along as "
            "q w <- min(q(x^l), (q w) p): every vocabulary and depth."
        ),
        source="sun2025block, Lemma 3",
        verifiers=(),
        assumed=(TAIL, *BLOCK.assumed),
        steps=(
            *BLOCK.steps,
            always(
                "Q q min(1, w p / q) = min(Q q, Q w p)",
                Q * q * least(ONE, w * p / q) == least(Q * q, Q * w * p),
                q > 0,
                Q >= 0,
            ),
        ),
    ),
    Theorem(
        name="full information is above block verification",
        statement=(
            "min(p(x^l), q(x^l)) is never below q(x^l) w_l: greedy block verification accepts at least what "
            "block verification does, word by word; every vocabulary and depth."
        ),
        source="sun2025block, greedy block verification (appendix)",
        verifiers=(),
        assumed=("'greedy block verification is optimal', 'mean of block verification'",),
        steps=(
            always(
                "if Q w <= min(P, Q) then min(Q q, Q w p) <= min(P p, Q q)",
                least(Q * q, b * p) <= least(t * p, Q * q),
                b <= least(t, Q),
                p >= 0,
                q >= 0,
            ),
        ),
    ),
    Theorem(
        name="traversal is block on a chain",
        statement=(
            "On one chain Traversal Verification keeps at least l tokens with the probability w_l of block "
            "verification, and no valid rule with more: every vocabulary and depth."
        ),
        source="weng2025traversal, Theorem 3.4, Lemma B.1 and Lemma B.2",
        verifiers=(),
        assumed=(
            "'traversal is lossless': the subtree below x^l is kept with probability a(x^l) exactly",
            "'block is optimal'",
        ),
        steps=(
            always(
                "down the chain a(x) = min(1, a(parent) p / q) is the recursion of w, from 1 at the root",
                least(ONE, w * p / q) == least(ONE, w * (p / q)),
                q > 0,
            ),
            *STEPS[-2:],
        ),
    ),
)
