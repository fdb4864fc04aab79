"""Hierarchical speculative decoding (zhou2026hsd), theorem by theorem, and its released code."""

from flint import fmpq

from draftproof.proofs_check.claims.claim import REFUTED, Claim, Lossless, every, refuted_on
from draftproof.proofs_check.means import mean_on
from draftproof.simulators.enumerate import iteration
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.paths import Paths
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.table import Table
from draftproof.theory.verifiers import named


def _all_equal() -> Instance:
    # p = q: all verifiers accept everything, at every depth.
    return context_free(["1/3", "2/3"], ["1/3", "2/3"], Chain(2))


def _never_the_same(instance: Instance) -> bool:
    return len({mean_on(instance, name) for name in ("hsd", "block", "token")}) > 1


def _falling_and_rising() -> Instance:
    # Joint ratios 2, 1/2, 2 along 0 0 0: the last is above 1 again after one below 1.
    p = {(): ["1/2", "1/2"], (0,): ["1/5", "4/5"], (0, 0): ["4/5", "1/5"]}
    q = {(): ["1/4", "3/4"], (0,): ["4/5", "1/5"], (0, 0): ["1/5", "4/5"]}
    return Instance(Table.exact(2, p), Table.exact(2, q), Chain(3))


def _not_drawn_again(instance: Instance) -> bool:
    # Token 0 is never drawn again at the root.
    stops = iteration(instance.draft, instance.proposal, named("hsd-naive"), instance.target, start=fmpq(1))
    return not sum((weight * row[0] for weight, _, node, row in stops if node.prefix == ()), fmpq(0))


CLAIMS = (
    every("hsd-recovery", "recovery within a set", "every set of words"),
    every(
        "hsd-asymmetry",
        "asymmetry of a branch",
        "every branch",
        statement="What the proposal lacks in a branch, less what it has too much, is p(X) - q(X) of its "
        "prefix.",
        source="zhou2026hsd, Theorem 2",
    ),
    every(
        "hsd-branch-recovery",
        "asymmetry of a branch",
        "every branch",
        statement="A branch can be recovered by drawing again within it where p(X) <= q(X) of its prefix.",
        source="zhou2026hsd, Corollary 3",
    ),
    every(
        "hsd-total-divergence",
        "asymmetry of a branch",
        "every vocabulary",
        statement="Over all words lack and excess are equal, and half of the sum of |p - q|.",
        source="zhou2026hsd, Section A.1 and Lemma 2",
    ),
    every("hsd-hierarchy", "hierarchy of branches", "every branch"),
    every(
        "hsd-naive-resampling",
        "greedy block verification is lossless",
        statement="Naive HSD draws a word again with mass p - q in all where its joint ratio is above 1, "
        "and with none where it is not.",
        source="zhou2026hsd, Lemma 3",
    ),
    Claim(
        "hsd-naive-no-resampling",
        "If the ratio at m is at most 1 and those after it are above 1, no X^t with t <= m is drawn again, "
        "be they ratios of prefixes or of tokens.",
        "zhou2026hsd, Lemma 4 as written",
        "a chain of 3, V = 2",
        refuted_on(_falling_and_rising, _not_drawn_again),
        verdict=REFUTED,
        note="prefixes with ratios 2, 1/2, 2, tokens with 2, 1/4, 4: token X_1 is drawn again at the root. "
        "What is shown there and losslessness needs, t = m for prefixes, holds: p(X^m) <= q(X^m) leaves no "
        "residual, so no such draw goes on to the word",
    ),
    every(
        "hsd-naive-lossless",
        "greedy block verification is lossless",
        statement="Naive HSD, with all positions after a stop drawn from the hierarchy, is lossless.",
        source="zhou2026hsd, Algorithm 1 and Theorem 5",
    ),
    every(
        "hsd-capped-between",
        "capped ratios",
        statement="Between two neighbouring peaks of the joint ratio the capped ratio r* is at most 1.",
        source="zhou2026hsd, Lemma 5",
    ),
    every(
        "hsd-capped-at-peaks",
        "capped ratios",
        statement="At a peak of the joint ratio r* is the ratio since the last peak, and above 1.",
        source="zhou2026hsd, Lemma 6",
    ),
    every(
        "hsd-resampled-mass",
        "resampled masses of hsd",
        statement="Only peaks of the joint ratio are drawn again, X^m with mass (r* - 1)+ q(X^m).",
        source="zhou2026hsd, Lemma 7",
    ),
    every(
        "hsd-telescoping",
        "resampled masses of hsd",
        statement="Those masses, carried on by the target, are differences of the hybrid probabilities q up "
        "to a peak and p beyond it.",
        source="zhou2026hsd, Lemma 8",
    ),
    every(
        "hsd-lossless",
        "hsd is block",
        statement="HSD as its paper writes it is lossless.",
        source="zhou2026hsd, Algorithm 2, Equations 19-20 and Theorem 6",
    ),
    every(
        "hsd-means",
        "means from stopping probabilities",
        statement="E[tau] of HSD and block verification is the sum over i of 1 - prod_{k >= i} (1 - h_k), "
        "of token verification the sum of prod_{k <= i} h_k, given the draft.",
        source="zhou2026hsd, Lemma 9",
    ),
    every(
        "hsd-tail-sum",
        "means from stopping probabilities",
        "every distribution on 0, a, 2a, ..",
        statement="The mean of a multiple of a is a times the sum of its tail probabilities.",
        source="zhou2026hsd, Lemma 10",
    ),
    every("hsd-suffix-products", "weights as least suffix products"),
    every(
        "hsd-is-block",
        "hsd is block",
        statement="HSD as its paper writes it equals block verification in every probability it uses: the "
        "inequality between their E[tau] is always an equality.",
        source="zhou2026hsd, Theorem 7, first inequality",
    ),
    every(
        "hsd-above-token",
        "block accepts at least as much as token",
        statement="HSD and block verification never accept less than token verification.",
        source="zhou2026hsd, Theorem 7, second inequality",
    ),
    Claim(
        "hsd-strictly-above",
        "Beyond depth 1 HSD, block verification and token verification never all accept the same in "
        "expectation.",
        "zhou2026hsd, Theorem 7, equality if and only if gamma = 1",
        "a chain of 2, V = 2",
        refuted_on(_all_equal, _never_the_same),
        verdict=REFUTED,
        note="p = q: all accept everything. HSD and block verification do the same for all p and q "
        "(hsd-is-block)",
    ),
    Claim(
        "hsd-released-lossless",
        "HSD as released, with the uncapped joint ratio at the leaf, is lossless.",
        "zhou2026hsd, Listing 2 and repository",
        "a chain of 2, V = 2",
        Lossless("hsd-released", (2, Chain(2))),
        verdict=REFUTED,
        note="p = (1/2, 1/2) and q = (1/3, 2/3) everywhere",
    ),
    Claim(
        "hsd-multidraft-released-lossless",
        "Multi-draft HSD as released, which carries the joint ratio over a stop, is lossless.",
        "zhou2026hsd, repository",
        "a chain of 2, V = 2",
        Lossless("hsd-multidraft-released", (2, Chain(2))),
        verdict=REFUTED,
        note="one path suffices: its full path is kept with the uncapped ratio",
    ),
    Claim(
        "hsd-multidraft-lossless",
        "Multi-draft HSD with the ratio restarted after a stop and the leaf capped is lossless.",
        "zhou2026hsd, Algorithm 3 read so",
        "V = 2: a chain of 2, two paths of 1 and of 2",
        Lossless("hsd-multidraft", (2, Chain(2)), (2, Paths(2, 1)), (2, Paths(2, 2))),
        seconds=10,
    ),
)
