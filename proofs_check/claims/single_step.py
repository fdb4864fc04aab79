"""What a single-step rule can accept: alpha*, its formulas, and the rules that reach it."""

from collections.abc import Callable, Iterator
from itertools import chain, combinations

from flint import fmpq

from proofs_check.claims.claim import (
    REFUTED,
    SIZES,
    Claim,
    Together,
    every,
    means,
    related,
    searched,
    unrefuted,
)
from proofs_check.means import Mean, by_row, mean_on
from simulators.instances.randoms import Randoms
from simulators.instances.scenarios import Scenarios
from theory.closed_forms import expected_accepted
from theory.drafts import Scheme
from theory.drafts.chain import Chain
from theory.drafts.greedy import Greedy
from theory.drafts.shape import every as full
from theory.drafts.spechub import SpecHub
from theory.drafts.tree import Tree
from theory.instance import Instance
from theory.rows import Number, Row, meet, minimum, one, total
from theory.transport import single_step
from theory.transport.certificate import certified
from theory.transport.selection import drawn_law, max_flow
from theory.verifiers import named

PAIR = full(2, 1)
WITH, WITHOUT = Tree(PAIR, True), Tree(PAIR, False)
SMALL = "two drafts, V = 2 and 3"


def flow(replacement: bool, k: int = 2) -> Callable[[Row, Row], Number]:
    """alpha* as the largest flow from drawn sets to their tokens."""
    return lambda p, q: _carried(max_flow(drawn_law(q, k, replacement), p), p)


def greedy_flow(p: Row, q: Row) -> Number:
    """alpha* of the greedy draft of two as a flow."""
    return _carried(max_flow(single_step.top_and_sample(q, 2), p), p)


def _carried(plan, p: Row) -> Number:
    return sum((mass for kept in plan.values() for mass in kept.values()), p[0] - p[0])


def subsets(replacement: bool, k: int = 2) -> Callable[[Row, Row], Number]:
    """1 + min over all sets H of p(H) - Pr(all drafts in H)."""

    def value(p: Row, q: Row) -> Number:
        draws, tokens = drawn_law(q, k, replacement), range(len(p))
        least = p[0] - p[0]
        for H in chain.from_iterable(combinations(tokens, size) for size in range(1, len(p) + 1)):
            least = minimum(least, single_step.surplus(p, draws, H))
        return one(p) + least

    return value


def prefixes(replacement: bool, k: int = 2) -> Callable[[Row, Row], Number]:
    """The same along prefixes of the tokens sorted by q / p."""
    return lambda p, q: single_step.alpha(p, q, k, replacement)[0]


def _row(of: Callable[[Row, Row], Number]) -> Callable[[Scheme], Mean]:
    return lambda scheme: by_row(of)


def _condition(p: Row, q: Row) -> Number:
    # 1 where alpha* = 1 exactly if p(S) >= q(S)^2 for every S, else 0.
    always = True
    for S in chain.from_iterable(combinations(range(len(p)), size) for size in range(1, len(p))):
        P, Q = sum((p[x] for x in S), p[0] - p[0]), sum((q[x] for x in S), p[0] - p[0])
        always = always and not P < Q * Q
    return one(p) * int((flow(True)(p, q) == 1) == always)


def _always(p: Row, q: Row) -> Number:
    return one(p)


def _both(a, b) -> Together:
    # a and b take whether draws are with replacement; V = 2 and 3.
    return Together(
        tuple(
            related("equal", _row(a(with_)), _row(b(with_)), *[(vocab, Chain(1)) for vocab in (2, 3)])
            for with_ in (False, True)
        )
    )


def _rows(vocab: int, count: int) -> Iterator[tuple[Row, Row]]:
    for instance in (*Scenarios(Chain(1), vocab), *Randoms(Chain(1), vocab, count)):
        yield instance.target[()], instance.proposal[()]


def _certified() -> str:
    count = 0
    for vocab, k, replacement in [(v, k, w) for v in (3, 4, 5) for k in (2, 3) for w in (False, True)]:
        for p, q in _rows(vocab, 15):
            best = certified(single_step.problem(p, drawn_law(q, k, replacement))).value
            if not best == single_step.alpha(p, q, k, replacement)[0] == subsets(replacement, k)(p, q):
                return REFUTED
            count += 1
    return unrefuted(count)


def _pairs(scheme: Scheme, count: int = 60) -> Callable[[], Iterator[Instance]]:
    def instances() -> Iterator[Instance]:
        for vocab in (2, 3, 4):
            yield from Scenarios(scheme, vocab)
            yield from Randoms(scheme, vocab, count)

    return instances


def _near_best(instance: Instance) -> bool:
    best = single_step.alpha(instance.target[()], instance.proposal[()], 2, True)[0]
    found = expected_accepted(instance, "global-resolution")
    return 0 <= best - found <= fmpq(1, 10**6)


def _factor(instance: Instance) -> bool:
    best = single_step.alpha(instance.target[()], instance.proposal[()], 2, True)[0]
    return expected_accepted(instance, "k-seq") >= fmpq(3, 4) * best


def _hub_above(instance: Instance) -> bool:
    recursive = mean_on(instance, named("rrs"), WITHOUT)
    return mean_on(instance, named("spechub"), SpecHub(1)) >= recursive


def _greedy_above(instance: Instance) -> bool:
    p, q = instance.target[()], instance.proposal[()]
    return single_step.hu_greedy(p, q, 2) >= single_step.alpha(p, q, 2, False)[0]


CLAIMS = (
    Claim(
        "single-draft-optimum",
        "With one draft no rule accepts more than the sum of min(p, q), which token verification does.",
        "sun2023spectr, Section 3 (one draft: maximal coupling)",
        "V = 2 and 3",
        SIZES,
        1,
        related(
            "equal", _row(flow(True, 1)), _row(lambda p, q: total(meet(p, q))), (2, Chain(1)), (3, Chain(1))
        ),
    ),
    every(
        "k-seq-factor",
        "k-seq is within 1 - 1/e",
        "K-SEQ accepts at least 1 - (1 - 1/k)^k, more than 1 - 1/e, of what the best valid rule accepts.",
        "sun2023spectr, Section 5 (the factor of K-SEQ)",
        "k i.i.d. drafts",
    ),
    Claim(
        "k-seq-factor-search",
        "With two drafts K-SEQ, rho rounded up to 1/1024, accepts at least 3/4 of alpha*.",
        "sun2023spectr, Section 5 (the factor of K-SEQ)",
        "a pair with replacement, V = 2, 3 and 4",
        unrefuted(234),
        1,
        searched(_pairs(WITH), _factor),
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
        _both(flow, subsets),
    ),
    Claim(
        "alpha-along-prefixes",
        "Some prefix of the tokens sorted by q / p is a minimiser.",
        "hu2025towards, Section 4",
        f"{SMALL}, with and without replacement",
        SIZES,
        14,
        _both(subsets, prefixes),
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
    Claim(
        "hu-greedy-optimal",
        "The greedy draft's rule reaches the alpha* of its draft, p(T) + sum of min(p, norm(q off T)).",
        "hu2025towards, Section 5",
        "n = 2, V = 2 and 3",
        SIZES,
        5,
        related(
            "equal",
            means("hu-greedy"),
            _row(greedy_flow),
            (2, Greedy(PAIR)),
            (3, Greedy(PAIR)),
        ),
    ),
    Claim(
        "hu-greedy-above-sampling",
        "The greedy draft never has a lower alpha* than two drafts without replacement.",
        "open; measured in hu2025towards",
        "two drafts, V = 3",
        REFUTED,
        1,
        searched(_pairs(WITHOUT), _greedy_above),
        "p = (0, 0, 1) and q = (1/3, 1/3, 1/3): the sample misses token 2 more often than two draws do",
    ),
    Claim(
        "khisti-optimal",
        "Importance-weighted selection followed by token verification reaches alpha*.",
        "khisti2025multidraft, Theorem 1",
        "two drafts, V = 2, with and without replacement",
        SIZES,
        1,
        Together(
            tuple(
                related("equal", means("khisti"), _row(flow(with_)), (2, Tree(PAIR, with_)))
                for with_ in (False, True)
            )
        ),
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
        related("equal", _row(_condition), _row(_always), (2, Chain(1)), (3, Chain(1))),
    ),
    Claim(
        "global-resolution-optimal",
        "Global Resolution accepts alpha* up to its solver: within 1e-6, never above.",
        "thomas2026global, global resolution for i.i.d. drafts",
        "a pair with replacement, V = 2, 3 and 4",
        unrefuted(234),
        1,
        searched(_pairs(WITH), _near_best),
    ),
    Claim(
        "spechub-optimal",
        "SpecHub reaches the alpha* of its pairs, the greedy draft's with n = 2.",
        "sun2024spechub, Section 4",
        "V = 2 and 3",
        SIZES,
        10,
        related("equal", means("spechub"), _row(greedy_flow), (2, SpecHub(1)), (3, SpecHub(1))),
    ),
    Claim(
        "spechub-above-recursive",
        "SpecHub never accepts less than recursive rejection of two drafts without replacement.",
        "open; measured in sun2024spechub",
        "two drafts, V = 3",
        REFUTED,
        1,
        searched(_pairs(WITHOUT), _hub_above),
        "p = (1, 0, 0) and q = (1/4, 1/4, 1/2): the hub is token 2, and token 0 is drawn beside it half "
        "the time",
    ),
)
