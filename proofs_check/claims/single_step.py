"""How near single-step rules come to alpha*."""

from flint import fmpq

from draftproof.proofs_check.claims.alpha import flow, row
from draftproof.proofs_check.claims.claim import (
    PAIR,
    REFUTED,
    WITH,
    WITHOUT,
    Claim,
    Related,
    Together,
    every,
    means,
    searched,
    unrefuted,
)
from draftproof.proofs_check.means import mean_on
from draftproof.theory.closed_forms import expected_accepted
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Number, Row, total
from draftproof.theory.transport import single_step
from draftproof.theory.transport.siblings import top_and_sample
from draftproof.theory.transport.single_step import emitted, max_flow

VOCABS = (2, 3, 4)


def _greedy_flow(p: Row, q: Row) -> Number:
    # alpha* of the greedy draft of two as a flow.
    return total(emitted(max_flow(top_and_sample(q, 2), p), p))


def _near_best(instance: Instance) -> bool:
    best = single_step.alpha(instance.target[()], instance.proposal[()], 2, True)[0]
    found = expected_accepted(instance, "global-resolution")
    return 0 <= best - found <= fmpq(1, 10**6)


def _factor(instance: Instance) -> bool:
    best = single_step.alpha(instance.target[()], instance.proposal[()], 2, True)[0]
    return expected_accepted(instance, "k-seq") >= fmpq(3, 4) * best


def _hub_above(instance: Instance) -> bool:
    return mean_on(instance, "spechub", SpecHub(1)) >= mean_on(instance, "rrs", WITHOUT)


def _greedy_above(instance: Instance) -> bool:
    p, q = instance.target[()], instance.proposal[()]
    return single_step.hu_greedy(p, q, 2) >= single_step.alpha(p, q, 2, False)[0]


CLAIMS = (
    every("k-seq-factor", "k-seq is within 1 - 1/e", "k i.i.d. drafts"),
    Claim(
        "k-seq-factor-search",
        "With two drafts K-SEQ, rho rounded up to 1/1024, accepts at least 3/4 of alpha*.",
        "sun2023spectr, Section 5 (the factor of K-SEQ)",
        "a pair with replacement, V = 2, 3 and 4",
        searched(_factor, [WITH], VOCABS, 60),
        verdict=unrefuted(234),
    ),
    Claim(
        "hu-greedy-optimal",
        "The greedy draft's rule reaches the alpha* of its draft, p(T) + sum of min(p, norm(q off T)).",
        "hu2025towards, Section 5",
        "n = 2, V = 2 and 3",
        Related("equal", means("hu-greedy"), row(_greedy_flow), (2, Greedy(PAIR)), (3, Greedy(PAIR))),
        seconds=5,
    ),
    Claim(
        "hu-greedy-above-sampling",
        "The greedy draft never has a lower alpha* than two drafts without replacement.",
        "open; measured in hu2025towards",
        "two drafts, V = 3",
        searched(_greedy_above, [WITHOUT], VOCABS, 60),
        verdict=REFUTED,
        note="p = (0, 0, 1) and q = (1/3, 1/3, 1/3): the sample misses token 2 more often than two draws do",
    ),
    Claim(
        "khisti-optimal",
        "Importance-weighted selection followed by token verification reaches alpha*.",
        "khisti2025multidraft, Theorem 1",
        "two drafts, V = 2, with and without replacement",
        Together(
            *(
                Related("equal", means("khisti"), row(flow(with_)), (2, Tree(PAIR, with_)))
                for with_ in (False, True)
            )
        ),
    ),
    Claim(
        "global-resolution-optimal",
        "Global Resolution accepts alpha* up to its solver: within 1e-6, never above.",
        "thomas2026global, global resolution for i.i.d. drafts",
        "a pair with replacement, V = 2, 3 and 4",
        searched(_near_best, [WITH], VOCABS, 60),
        verdict=unrefuted(234),
    ),
    Claim(
        "spechub-optimal",
        "SpecHub reaches the alpha* of its pairs, the greedy draft's with n = 2.",
        "sun2024spechub, Section 4",
        "V = 2 and 3",
        Related("equal", means("spechub"), row(_greedy_flow), (2, SpecHub(1)), (3, SpecHub(1))),
        seconds=10,
    ),
    Claim(
        "spechub-above-recursive",
        "SpecHub never accepts less than recursive rejection of two drafts without replacement.",
        "open; measured in sun2024spechub",
        "two drafts, V = 3",
        searched(_hub_above, [WITHOUT], VOCABS, 60),
        verdict=REFUTED,
        note="p = (1, 0, 0) and q = (1/4, 1/4, 1/2): the hub is token 2, and token 0 is drawn beside it half "
        "the time",
    ),
)
