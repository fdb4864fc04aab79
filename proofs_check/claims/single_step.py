"""The most that a single-step rule can accept, alpha*: its formulas, and how near rules come to it."""

from collections.abc import Callable
from itertools import chain, combinations, product

from flint import fmpq

from draftproof.proofs_check.claims.checks import (
    EQUAL,
    PAIR,
    WITH,
    WITHOUT,
    Mean,
    Related,
    Together,
    exact_instances,
    found_in,
    mean_on,
    means,
    searched,
)
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.greedy import Greedy
from draftproof.theory.drafts.spechub import SpecHub
from draftproof.theory.instance import Instance
from draftproof.theory.rows import Number, Row, meet, one, total
from draftproof.theory.shared.strata import rest_and_top
from draftproof.theory.transport import single_step
from draftproof.theory.transport.certificate import certified
from draftproof.theory.transport.siblings import independent_law
from draftproof.theory.transport.single_step import emitted, max_flow, set_law

CASES = [(vocab, Chain(1)) for vocab in (2, 3)]
VOCABS = (2, 3, 4)
Formula = Callable[[Row, Row], Number]  # a number for the root's rows p and q


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
    """The formula, which may compare and take minima, as E[tau] of any scheme."""
    return lambda _: lambda domain, oracle: domain.number(1) * formula(domain.target[()], domain.proposal[()])


def both(a: Callable[[bool], Formula], b: Callable[[bool], Formula]) -> Together:
    """Formulas a and b are equal with and without replacement."""
    return Together(*(Related(EQUAL, row(a(with_)), row(b(with_)), *CASES) for with_ in (False, True)))


def _condition(p: Row, q: Row) -> Number:
    # 1 where alpha* = 1 exactly if p(S) >= q(S)^2 for every S, else 0.
    always = True
    for S in chain.from_iterable(combinations(range(len(p)), size) for size in range(1, len(p))):
        P, Q = sum((p[x] for x in S), p[0] - p[0]), sum((q[x] for x in S), p[0] - p[0])
        always = always and not P < Q * Q
    return one(p) * int((flow(True)(p, q) == 1) == always)


def _greedy_flow(p: Row, q: Row) -> Number:
    # alpha* of the greedy draft of two as a flow.
    return total(emitted(max_flow(independent_law(rest_and_top(q, 2)), p), p))


def _best(instance: Instance, replacement: bool = True, k: int = 2) -> Number:
    return prefixes(replacement, k)(instance.target[()], instance.proposal[()])


def _certified(case: tuple[int, bool, Instance]) -> bool:
    # The transport program with its exact certificate and both formulas agree.
    k, replacement, instance = case
    p, q = instance.target[()], instance.proposal[()]
    value = certified(single_step.problem(p, set_law(q, k, replacement))).value
    return bool(value == _best(instance, replacement, k) == subsets(replacement, k)(p, q))


def _near_best(instance: Instance) -> bool:
    return 0 <= _best(instance) - mean_on(instance, "global-resolution") <= fmpq(1, 10**6)


def _factor(instance: Instance) -> bool:
    return mean_on(instance, "k-seq") >= fmpq(3, 4) * _best(instance)


def _hub_above(instance: Instance) -> bool:
    return mean_on(instance, "spechub", SpecHub(1)) >= mean_on(instance, "rrs", WITHOUT)


def _greedy_above(instance: Instance) -> bool:
    return single_step.hu_greedy(instance.target[()], instance.proposal[()], 2) >= _best(instance, False)


CHECKS = {
    "single-draft-optimum": Related(EQUAL, row(flow(True, 1)), row(lambda p, q: total(meet(p, q))), *CASES),
    "alpha-is-a-subset-minimum": both(flow, subsets),
    "alpha-along-prefixes": both(subsets, prefixes),
    "alpha-certified": found_in(
        lambda: product((2, 3), (False, True), exact_instances([Chain(1)], (3, 4, 5), 15)), _certified
    ),
    "khisti-two-drafts": Related(EQUAL, row(_condition), row(lambda p, q: one(p)), *CASES),
    "k-seq-factor-search": searched(_factor, [WITH], VOCABS, 60),
    "hu-greedy-optimal": Related(
        EQUAL, means("hu-greedy"), row(_greedy_flow), (2, Greedy(PAIR)), (3, Greedy(PAIR))
    ),
    "hu-greedy-above-sampling": searched(_greedy_above, [WITHOUT], VOCABS, 60),
    "khisti-optimal": Together(
        Related(EQUAL, means("khisti"), row(flow(False)), (2, WITHOUT)),
        Related(EQUAL, means("khisti"), row(flow(True)), (2, WITH)),
    ),
    "global-resolution-optimal": searched(_near_best, [WITH], VOCABS, 60),
    "spechub-optimal": Related(EQUAL, means("spechub"), row(_greedy_flow), (2, SpecHub(1)), (3, SpecHub(1))),
    "spechub-above-recursive": searched(_hub_above, [WITHOUT], VOCABS, 60),
}
