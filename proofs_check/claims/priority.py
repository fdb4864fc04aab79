"""The priority rule, its lift and stratified drafts; the optimum of a node (docs/near-optimal.md)."""

from functools import partial

from draftproof.proofs_check.claims.checks import (
    EQUAL,
    NEVER_BELOW,
    PAIR,
    WITH,
    Related,
    Together,
    mean_on,
    means,
    refuted_on,
    searched,
)
from draftproof.proofs_check.claims.single_step import CASES, Formula, flow, row
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.shape import Shape, every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.rows import Row, total
from draftproof.theory.shared.strata import strata
from draftproof.theory.table import Table
from draftproof.theory.transport.siblings import SetLaw, independent_law
from draftproof.theory.transport.single_step import emitted, inclusion_bound, max_flow, subset_formula
from draftproof.theory.verifiers.shared.priority import included

TRIPLE = Tree(every(3, 1), True)
STRATA = Stratified(PAIR)
UNEVEN = (((),), ())
"""Two children, the first with a child."""
LATER = (((), (((),),)),)
"""A token with two children, of which the second has a path of two below it."""


def bound(k: int, stratified: bool) -> Formula:
    """sum min(p, pi) of k siblings."""
    return lambda p, q: inclusion_bound(p, included(strata(q, k) if stratified else (q,) * k))


def best_of_strata(k: int) -> Formula:
    """alpha* of k strata as a flow."""
    return lambda p, q: total(emitted(max_flow(independent_law(strata(q, k)), p), p))


def independent(*shapes: Shape) -> list[Scheme]:
    """Trees of these shapes whose siblings are drawn independently: i.i.d. and of strata."""
    return [kind for shape in shapes for kind in (Tree(shape, True), Stratified(shape))]


def _best(instance: Instance, name: str = "priority") -> bool:
    # Whether a rule accepts alpha* at the root.
    p, q, draft = instance.target[()], instance.proposal[()], instance.draft
    k = len(draft.shape)  # type: ignore[attr-defined]
    draws: SetLaw = independent_law(strata(q, k) if isinstance(draft, Stratified) else _same(q, k))
    return mean_on(instance, name) == subset_formula(p, draws)


def _same(q: Row, k: int) -> tuple[Row, ...]:
    return (q,) * k


def _lift_never_below(instance: Instance) -> bool:
    return mean_on(instance, "lifted-priority") >= mean_on(instance, "priority")


def later_child() -> Instance:
    """An instance on which the lift accepts less than the rule node by node: it enters the first token's
    children with rate 1/2, all of which goes to the first child, a leaf.
    """
    half, sure = ["1/2", "1/2"], ["1", "0"]
    target, proposal = {(): half, (0,): sure}, {(): sure, (0,): half, (0, 0): sure}
    return Instance(Table.exact(2, target), Table.exact(2, proposal), Tree(LATER, True))


CHECKS = {
    "inclusion-bound": Together(
        Related(NEVER_BELOW, row(bound(2, False)), row(flow(True)), *CASES),
        Related(NEVER_BELOW, row(bound(2, True)), row(best_of_strata(2)), *CASES),
    ),
    "priority-optimal-two-tokens": Together(
        Related(EQUAL, means("priority"), row(flow(True)), (2, WITH)),
        Related(EQUAL, means("priority"), row(flow(True, 3)), (2, TRIPLE)),
    ),
    "priority-optimal": refuted_on(context_free(["0", "1/5", "4/5"], ["1/5", "1/5", "3/5"], WITH), _best),
    "priority-optimal-strata": refuted_on(context_free(["1/3"] * 3, ["1/3"] * 3, STRATA), _best),
    "optimal-alpha": Together(
        Related(EQUAL, means("optimal"), row(flow(True)), (2, WITH)),
        Related(EQUAL, means("optimal"), row(flow(True, 3)), (2, TRIPLE)),
        Related(EQUAL, means("optimal"), row(best_of_strata(2)), (2, STRATA)),
    ),
    "optimal-alpha-search": searched(
        partial(_best, name="optimal"), independent(*(every(k, 1) for k in (2, 3, 4))), (3, 4), 30
    ),
    "lifted-priority-above-priority": searched(
        _lift_never_below, independent(every(2, 2), (((),), ((),)), UNEVEN, ((), ((),))), (2, 3), 30
    ),
    "lifted-priority-above-priority-deep": refuted_on(later_child(), _lift_never_below),
}
