"""The most that a single-step rule can accept, alpha*, and its formulas."""

from collections.abc import Callable
from itertools import chain, combinations

from draftproof.proofs_check.claims.claim import (
    REFUTED,
    Claim,
    Related,
    Together,
    every,
    exact_instances,
    unrefuted,
)
from draftproof.proofs_check.means import Mean, by_row
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.rows import Number, Row, meet, one, total
from draftproof.theory.transport import single_step
from draftproof.theory.transport.certificate import certified
from draftproof.theory.transport.single_step import emitted, max_flow, set_law

SMALL = "two drafts, V = 2 and 3"
CASES = [(vocab, Chain(1)) for vocab in (2, 3)]
Formula = Callable[[Row, Row], Number]
"""A number for the root's rows p and q."""


def flow(replacement: bool, k: int = 2) -> Formula:
    """alpha* as the largest flow from drawn sets to their tokens."""
    return lambda p, q: total(emitted(max_flow(set_law(q, k, replacement), p), p))


def subsets(replacement: bool, k: int = 2) -> Formula:
    """1 + min over all sets H of p(H) - Pr(all drafts in H)."""
    return lambda p, q: single_step.subset_formula(p, set_law(q, k, replacement))


def prefixes(replacement: bool, k: int = 2) -> Formula:
    """The same minimum over the prefixes of the tokens sorted by q / p alone."""
    return lambda p, q: single_step.alpha(p, q, k, replacement)[0]


def row(formula: Formula) -> Callable[[Scheme], Mean]:
    """The formula as E[tau] of any scheme."""
    return lambda scheme: by_row(formula)


def condition(p: Row, q: Row) -> Number:
    """1 where alpha* = 1 exactly if p(S) >= q(S)^2 for every S, else 0."""
    always = True
    for S in chain.from_iterable(combinations(range(len(p)), size) for size in range(1, len(p))):
        P, Q = sum((p[x] for x in S), p[0] - p[0]), sum((q[x] for x in S), p[0] - p[0])
        always = always and not P < Q * Q
    return one(p) * int((flow(True)(p, q) == 1) == always)


def both(a: Callable[[bool], Formula], b: Callable[[bool], Formula]) -> Together:
    """Formulas a and b are equal with and without replacement."""
    return Together(*(Related("equal", row(a(with_)), row(b(with_)), *CASES) for with_ in (False, True)))


def _certified() -> str:
    count = 0
    for vocab, k, replacement in [(v, k, w) for v in (3, 4, 5) for k in (2, 3) for w in (False, True)]:
        for instance in exact_instances([Chain(1)], [vocab], 15):
            p, q = instance.target[()], instance.proposal[()]
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
        Related("equal", row(flow(True, 1)), row(lambda p, q: total(meet(p, q))), *CASES),
    ),
    every("alpha-formula", "subset formula", "every vocabulary and law of drafts"),
    Claim(
        "alpha-is-a-subset-minimum",
        "The largest flow is 1 + min over sets H of p(H) - Pr(all drafts in H), by sign cells.",
        "hu2025towards, Theorem 3",
        f"{SMALL}, with and without replacement",
        both(flow, subsets),
        seconds=8,
    ),
    Claim(
        "alpha-along-prefixes",
        "Some prefix of the tokens sorted by q / p is a minimiser.",
        "hu2025towards, Section 4",
        f"{SMALL}, with and without replacement",
        both(subsets, prefixes),
        seconds=14,
    ),
    Claim(
        "alpha-certified",
        "Both formulas, and the transport program with its exact certificate, agree.",
        "hu2025towards, Theorem 3; sun2023spectr, Section 3",
        "V = 3, 4 and 5, two and three drafts, with and without replacement",
        _certified,
        verdict=unrefuted(396),
        seconds=3,
    ),
    every(
        "without-replacement-is-better",
        "without replacement is no worse",
        "every vocabulary and number of drafts",
    ),
    every("drafts-that-never-fail", "when drafts never fail", "every vocabulary and k"),
    Claim(
        "khisti-two-drafts",
        "The largest flow of two i.i.d. drafts is 1 if and only if p(S) >= q(S)^2 for every S, by sign "
        "cells.",
        "khisti2025multidraft, two identical drafts",
        "V = 2 and 3",
        Related("equal", row(condition), row(lambda p, q: one(p)), *CASES),
        seconds=5,
    ),
)
