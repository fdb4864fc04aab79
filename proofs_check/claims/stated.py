"""Claims that rest on a published proof, or on ours, which this program does not check.

Where a claim speaks of verifiers, what they keep of a drafted token is still proved from their code
(`keeps`); the rest is the proof in the source.
"""

from draftproof.proofs_check.claims.claim import REACHED, STATED, Claim
from draftproof.proofs_check.claims.every_size import Stated


def stated(key: str, statement: str, source: str, scope: str, keeps: tuple[str, ...] = ()) -> Claim:
    """A claim whose proof is in its source; what the verifiers of `keeps` keep is proved from their code."""
    verdict, seconds = (REACHED, 1 + 4 * len(keeps)) if keeps else (STATED, 0.0)
    return Claim(key, statement, source, scope, Stated(keeps), verdict, seconds)


CLAIMS = (
    stated(
        "sampling-match-lossless",
        "Sampling-match, which draws from the target, is lossless.",
        "kwon2023vllm, drafts without probabilities",
        "every chain",
    ),
    stated(
        "naive-tree-lossless",
        "Judging one token x ~ d with min(1, p / d), else drawing from norm((p - d)+), is lossless "
        "whatever d is; NaiveTree judges the first child (d = q).",
        "thomas2026delayed, NaiveTree",
        "every tree and path",
    ),
    stated(
        "hu-greedy-lossless",
        "The rule for the top n-1 tokens T and one sample, d = norm(q off T), is lossless.",
        "hu2025towards, greedy draft",
        "every greedy draft",
    ),
    stated(
        "khisti-lossless",
        "Selecting a draft by any importance weights and judging it as a single one is lossless.",
        "khisti2025multidraft, Theorem 1",
        "every tree and path",
    ),
    stated(
        "global-resolution-lossless",
        "Global Resolution, its float solution judged by its exact law, is lossless.",
        "thomas2026global, global resolution for i.i.d. drafts",
        "every tree and path",
    ),
    stated(
        "block-optimal",
        "In one iteration no valid verifier of one path has more E[tau] than block verification.",
        "sun2025block, Theorem 2 for one iteration",
        "every chain, every valid verifier",
        ("block",),
    ),
    stated(
        "block-bound",
        "In one iteration no valid verifier keeps drafted tokens x^l with more than w_l.",
        "sun2025block, Lemma 4; weng2025traversal, Lemma B.2",
        "every chain, every valid verifier",
        ("block",),
    ),
    stated(
        "block-optimal-off-path",
        "In one iteration it stays optimal among verifiers that look at probabilities off the path.",
        "thomas2026multipath, optimality of block verification",
        "every chain, every valid verifier",
        ("block",),
    ),
    stated(
        "block-above-token",
        "Block verification never accepts less than token verification; at depth 1 just as much.",
        "sun2025block, comparison with token verification (appendix)",
        "every chain",
        ("token", "block", "hsd"),
    ),
    stated(
        "hsd-above-token",
        "HSD and block verification never accept less than token verification.",
        "zhou2026hsd, Theorem 7, second inequality",
        "every chain",
        ("token", "block", "hsd"),
    ),
    stated(
        "one-block-is-enough",
        "Any number of blocks of a rule without memory follows the target if and only if one block, "
        "completed by the target to the draft's depth plus one, does.",
        "sun2025block, Lemma 2; weng2025traversal, Lemma A.1",
        "every chain and tree",
    ),
    stated(
        "greedy-mean",
        "In its first call no lossless verifier accepts more than greedy block verification, the sum over"
        " words of min(p, q).",
        "sun2025block, greedy block verification (appendix)",
        "every chain",
        ("greedy-block", "hsd-naive"),
    ),
    stated(
        "full-information-above-block",
        "The full-information optimum is never below block verification, word by word.",
        "sun2025block, greedy block verification (appendix)",
        "every chain",
        ("block", "greedy-block"),
    ),
    stated(
        "hsd-recovery",
        "Keeping words of a set with min(1, p/q) and drawing again within it recovers p on the set if and"
        " only if D(p, q) <= D(q, p), the sums of (p - q)+ and (q - p)+ over the set.",
        "zhou2026hsd, Theorem 1",
        "every set of words",
    ),
    stated(
        "hsd-asymmetry",
        "Over a branch the sum of (p - q)+ less that of (q - p)+ is p(X) - q(X) of its prefix.",
        "zhou2026hsd, Theorem 2",
        "every branch",
    ),
    stated(
        "hsd-branch-recovery",
        "A branch can be recovered by drawing again within it where p(X) <= q(X) of its prefix.",
        "zhou2026hsd, Corollary 3",
        "every branch",
    ),
    stated(
        "hsd-total-divergence",
        "Over all words the sums of (p - q)+ and of (q - p)+ are equal, half of that of |p - q|.",
        "zhou2026hsd, Section A.1 and Lemma 2",
        "every vocabulary",
    ),
    stated(
        "hsd-hierarchy",
        "The positive asymmetries of child branches add up to D(p, q), the negative to D(q, p).",
        "zhou2026hsd, Theorem 4",
        "every branch",
    ),
    stated(
        "hsd-capped-between",
        "Between two neighbouring peaks of the joint ratio the capped ratio r* is at most 1.",
        "zhou2026hsd, Lemma 5",
        "every chain",
    ),
    stated(
        "hsd-capped-at-peaks",
        "At a peak of the joint ratio r* is the ratio since the last peak, and above 1.",
        "zhou2026hsd, Lemma 6",
        "every chain",
    ),
    stated(
        "hsd-resampled-mass",
        "Only peaks of the joint ratio are drawn again, X^m with mass (r* - 1)+ q(X^m).",
        "zhou2026hsd, Lemma 7",
        "every chain",
    ),
    stated(
        "hsd-telescoping",
        "Those masses are differences of the hybrid probabilities, q up to a peak and p beyond.",
        "zhou2026hsd, Lemma 8",
        "every chain",
    ),
    stated(
        "hsd-means",
        "E[tau] given the draft is the sum over i of 1 - prod_{k >= i} (1 - h_k) for HSD and block "
        "verification, of prod_{k <= i} h_k for token verification.",
        "zhou2026hsd, Lemma 9",
        "every chain",
    ),
    stated(
        "hsd-tail-sum",
        "The mean of a multiple of a is a times the sum of its tail probabilities.",
        "zhou2026hsd, Lemma 10",
        "every distribution on 0, a, 2a, ..",
    ),
    stated(
        "hsd-suffix-products",
        "Block verification's w_t is the least suffix product of the ratios, the empty one too.",
        "zhou2026hsd, Lemma 11",
        "every chain",
    ),
    stated(
        "traversal-above-recursive",
        "Traversal Verification never accepts less than recursive rejection on the same tree of depth at "
        "most 2 drawn with replacement.",
        "open; measured in weng2025traversal",
        "every tree of depth 1 and 2, with replacement",
    ),
    stated(
        "layered-lossless",
        "Layered transport is lossless, whatever its plan.",
        "draftproof, docs/findings.md",
        "every tree, chain and set of paths",
    ),
    stated(
        "alpha-formula",
        "alpha* = 1 + min over sets H of p(H) - Pr(all drafts in H).",
        "hu2025towards, Theorem 3",
        "every vocabulary and law of drafts",
    ),
    stated(
        "without-replacement-is-better",
        "alpha* of k drafts without replacement is never below that of k i.i.d. ones.",
        "hu2025towards, comparison of samplings",
        "every vocabulary and number of drafts",
    ),
    stated(
        "drafts-that-never-fail",
        "With k i.i.d. drafts alpha* = 1 if and only if p(S) >= q(S)^k for every set S of tokens.",
        "khisti2025multidraft, two identical drafts (k = 2)",
        "every vocabulary and k",
    ),
    stated(
        "optimal-transport-lossless",
        "Every plan of the membership-cost transport problem gives a lossless rule.",
        "sun2023spectr, Section 3",
        "every tree and path",
    ),
    stated(
        "k-seq-factor",
        "K-SEQ accepts at least 1 - (1 - 1/k)^k >= 1 - 1/e of what any single-step rule can.",
        "sun2023spectr, Section 5 (the factor of K-SEQ)",
        "k i.i.d. drafts",
    ),
)
