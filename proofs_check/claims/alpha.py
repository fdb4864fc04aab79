"""The most that a single-step rule can accept, alpha*, and its formulas."""

from collections.abc import Iterator

from draftproof.proofs_check.claims.claim import REFUTED, SIZES, Claim, Related, every, unrefuted
from draftproof.proofs_check.claims.flows import (
    SMALL,
    always_one,
    both,
    condition,
    flow,
    prefixes,
    row,
    subsets,
)
from draftproof.simulators.instances.randoms import Randoms
from draftproof.simulators.instances.scenarios import Scenarios
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.rows import Row, meet, total
from draftproof.theory.transport import single_step
from draftproof.theory.transport.certificate import certified
from draftproof.theory.transport.single_step import set_law


def _rows(vocab: int, count: int) -> Iterator[tuple[Row, Row]]:
    for instance in (*Scenarios(Chain(1), vocab), *Randoms(Chain(1), vocab, count)):
        yield instance.target[()], instance.proposal[()]


def _certified() -> str:
    count = 0
    for vocab, k, replacement in [(v, k, w) for v in (3, 4, 5) for k in (2, 3) for w in (False, True)]:
        for p, q in _rows(vocab, 15):
            best = certified(single_step.problem(p, set_law(q, k, replacement))).value
            if not best == single_step.alpha(p, q, k, replacement)[0] == subsets(replacement, k)(p, q):
                return REFUTED
            count += 1
    return unrefuted(count)


CLAIMS = (
    Claim(
        "single-draft-optimum",
        "With one draft no rule accepts more than the sum of min(p, q), which token verification does.",
        "sun2023spectr, Section 3 (one draft: maximal coupling)",
        "V = 2 and 3",
        SIZES,
        1,
        Related(
            "equal", row(flow(True, 1)), row(lambda p, q: total(meet(p, q))), (2, Chain(1)), (3, Chain(1))
        ),
    ),
    every(
        "alpha-formula",
        "subset formula",
        "alpha* = 1 + min over sets H of p(H) - Pr(all drafts in H).",
        "hu2025towards, Theorem 3",
        "every vocabulary and law of drafts",
    ),
    Claim(
        "alpha-is-a-subset-minimum",
        "The largest flow is 1 + min over sets H of p(H) - Pr(all drafts in H), by sign cells.",
        "hu2025towards, Theorem 3",
        f"{SMALL}, with and without replacement",
        SIZES,
        8,
        both(flow, subsets),
    ),
    Claim(
        "alpha-along-prefixes",
        "Some prefix of the tokens sorted by q / p is a minimiser.",
        "hu2025towards, Section 4",
        f"{SMALL}, with and without replacement",
        SIZES,
        14,
        both(subsets, prefixes),
    ),
    Claim(
        "alpha-certified",
        "Both formulas, and the transport program with its exact certificate, agree.",
        "hu2025towards, Theorem 3; sun2023spectr, Section 3",
        "V = 3, 4 and 5, two and three drafts, with and without replacement",
        unrefuted(396),
        3,
        _certified,
    ),
    every(
        "without-replacement-is-better",
        "without replacement is no worse",
        "Drafts without replacement never have a lower alpha* than i.i.d. ones.",
        "hu2025towards, comparison of samplings",
        "every vocabulary and number of drafts",
    ),
    every(
        "drafts-that-never-fail",
        "when drafts never fail",
        "With k i.i.d. drafts alpha* = 1 if and only if p(S) >= q(S)^k for every set S of tokens.",
        "khisti2025multidraft, two identical drafts (k = 2)",
        "every vocabulary and k",
    ),
    Claim(
        "khisti-two-drafts",
        "The largest flow of two i.i.d. drafts is 1 if and only if p(S) >= q(S)^2 for every S, by sign "
        "cells.",
        "khisti2025multidraft, two identical drafts",
        "V = 2 and 3",
        SIZES,
        5,
        Related("equal", row(condition), row(always_one), (2, Chain(1)), (3, Chain(1))),
    ),
)
