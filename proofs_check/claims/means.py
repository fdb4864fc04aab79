"""How much is accepted: E[tau] in closed form, optimality, and comparisons."""

from proofs_check.claims.claim import EVERY, SIZES, Claim, by_induction, mean_relation
from proofs_check.means import accepted, block_mean, formula, greedy_mean, token_mean
from theory.drafts.chain import Chain
from theory.verifiers import named


def _chain(verifier: str, depth: int):
    return accepted(named(verifier), Chain(depth))


def _both(relation: str, a, b):
    # At (V, depth) = (2, 1) and (2, 2); a and b take the depth.
    def check() -> str:
        verdicts = {mean_relation(relation, a(depth), b(depth), (2, depth))() for depth in (1, 2)}
        return verdicts.pop() if len(verdicts) == 1 else "refuted"

    return check


CLAIMS = (
    Claim(
        "block-optimal",
        "No valid verifier of one path keeps l tokens with more than probability w_l given "
        "the first l; block attains it.",
        "sun2025block, optimality of Algorithm 2",
        "every chain, every valid verifier",
        EVERY,
        0.2,
        by_induction("block is optimal"),
    ),
    Claim(
        "block-above-token",
        "Block verification never accepts less than token verification; the difference is "
        "the sum of q(x^l) (w_l - prod min(1, rho_i)).",
        "sun2025block, comparison with token verification",
        "every chain",
        EVERY,
        0.1,
        by_induction("block accepts at least as much as token"),
    ),
    Claim(
        "token-mean",
        "E[tau] of token verification is the sum over words of prod min(p, q).",
        "leviathan2023fast",
        "V = 2, depth 1 and 2",
        SIZES,
        1.0,
        _both("equal", lambda depth: _chain("token", depth), lambda depth: formula(token_mean)),
    ),
    Claim(
        "block-mean",
        "E[tau] of block verification is the sum over words of q(x^l) w_l.",
        "sun2025block, Algorithm 2",
        "V = 2, depth 1 and 2",
        SIZES,
        2.0,
        _both("equal", lambda depth: _chain("block", depth), lambda depth: formula(block_mean)),
    ),
    Claim(
        "greedy-mean",
        "Greedy block verification attains the full-information optimum, the sum over words of min(p, q).",
        "sun2025block, greedy block verification",
        "V = 2, depth 1 and 2",
        SIZES,
        2.0,
        _both("equal", lambda depth: _chain("greedy-block", depth), lambda depth: formula(greedy_mean)),
    ),
    Claim(
        "full-information-above-block",
        "The full-information optimum is never below block verification.",
        "sun2025block, greedy block verification",
        "V = 2, depth 1 and 2",
        SIZES,
        2.0,
        _both("never below", lambda depth: formula(greedy_mean), lambda depth: formula(block_mean)),
    ),
    Claim(
        "traversal-is-block-on-a-chain",
        "On one chain Traversal Verification accepts what block verification accepts.",
        "weng2025traversal, Algorithm 3",
        "V = 2, depth 1 and 2",
        SIZES,
        2.0,
        _both("equal", lambda depth: _chain("traversal", depth), lambda depth: _chain("block", depth)),
    ),
)
