"""The priority rule, its lift and stratified drafts; the optimum of a node (docs/near-optimal.md)."""

from functools import partial

from draftproof.proofs_check.claims.checks import (
    PAIR,
    WITH,
    Related,
    Together,
    chains,
    mean_on,
    means,
    refuted_on,
    searched,
)
from draftproof.proofs_check.claims.claim import REFUTED, Claim, unrefuted
from draftproof.proofs_check.claims.single_step import CASES, Formula, flow, row
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.drafts.shape import every
from draftproof.theory.drafts.stratified import Stratified
from draftproof.theory.drafts.tree import Tree
from draftproof.theory.instance import Instance, context_free
from draftproof.theory.rows import Row, total
from draftproof.theory.shared.strata import strata
from draftproof.theory.table import Table
from draftproof.theory.transport.siblings import SetLaw, independent_law
from draftproof.theory.transport.single_step import emitted, inclusion_bound, max_flow, subset_formula
from draftproof.theory.verifiers.shared.priority import included

SOURCE = "our derivation; docs/near-optimal.md"
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


CLAIMS = (
    Claim(
        "priority-token",
        "On chains the priority rule accepts what token verification does.",
        SOURCE,
        "chains, (V, depth) = (2,1), (3,1), (2,2)",
        Related("equal", means("priority"), means("token"), *chains(2, 1, 2), (3, Chain(1))),
        seconds=5,
    ),
    Claim(
        "lifted-priority-block",
        "On chains the lift of the priority rule accepts what block verification does.",
        SOURCE,
        "chains, (V, depth) = (2,1), (3,1), (2,2)",
        Related("equal", means("lifted-priority"), means("block"), *chains(2, 1, 2), (3, Chain(1))),
        seconds=6,
    ),
    Claim(
        "inclusion-bound",
        "No rule accepts more at a node than sum min(p, pi), pi the mean number of siblings by token.",
        SOURCE,
        "two siblings, i.i.d. and of strata, V = 2 and 3",
        Together(
            Related("never below", row(bound(2, False)), row(flow(True)), *CASES),
            Related("never below", row(bound(2, True)), row(best_of_strata(2)), *CASES),
        ),
        seconds=17,
    ),
    Claim(
        "priority-optimal-two-tokens",
        "With two tokens the priority rule reaches the alpha* of i.i.d. siblings.",
        SOURCE,
        "two and three siblings, V = 2",
        Together(
            Related("equal", means("priority"), row(flow(True)), (2, WITH)),
            Related("equal", means("priority"), row(flow(True, 3)), (2, TRIPLE)),
        ),
        seconds=2,
    ),
    Claim(
        "priority-optimal",
        "The priority rule reaches the alpha* of i.i.d. siblings.",
        "open",
        "two siblings, V = 3",
        refuted_on(context_free(["0", "1/5", "4/5"], ["1/5", "1/5", "3/5"], WITH), _best),
        REFUTED,
        note="p = (0, 1/5, 4/5), q = (1/5, 1/5, 3/5): 47/50 of 48/50; p and q of one denominator up to 4 "
        "do not show it. With three siblings p = (0, 1/3, 2/3), q = (1/3, 1/3, 1/3): 103/108 of 104/108",
    ),
    Claim(
        "priority-optimal-strata",
        "The priority rule accepts all of a stratified draft where p = q.",
        "open",
        "two siblings, V = 3",
        refuted_on(context_free(["1/3"] * 3, ["1/3"] * 3, STRATA), _best),
        REFUTED,
        note="p = q = (1/3, 1/3, 1/3): 8/9 of alpha* = 1. The token on the cut can be drawn twice, and "
        "rates lie between 0 and 1",
    ),
    Claim(
        "optimal-alpha",
        "The optimum of a node reaches alpha*.",
        "our derivation, docs/near-optimal.md; edmonds1970submodular and fujishige1980lexicographically",
        "two and three i.i.d. siblings at V = 2, two strata at V = 2",
        Together(
            Related("equal", means("optimal"), row(flow(True)), (2, WITH)),
            Related("equal", means("optimal"), row(flow(True, 3)), (2, TRIPLE)),
            Related("equal", means("optimal"), row(best_of_strata(2)), (2, STRATA)),
        ),
        seconds=5,
    ),
    Claim(
        "optimal-alpha-search",
        "The optimum of a node reaches alpha* of up to four siblings.",
        "our derivation, docs/near-optimal.md; edmonds1970submodular and fujishige1980lexicographically",
        "two to four siblings, i.i.d. and of strata, V = 3 and 4",
        searched(
            partial(_best, name="optimal"),
            [kind(every(k, 1)) for k in (2, 3, 4) for kind in (lambda shape: Tree(shape, True), Stratified)],
            (3, 4),
            30,
        ),
        unrefuted(576),
        seconds=10,
    ),
    Claim(
        "lifted-priority-above-priority",
        "The lift never accepts less than the priority rule node by node, on trees of depth 2.",
        "open",
        "four shapes, i.i.d. siblings and strata, V = 2 and 3",
        searched(
            _lift_never_below,
            [
                kind
                for shape in (every(2, 2), (((),), ((),)), UNEVEN, ((), ((),)))
                for kind in (Tree(shape, True), Stratified(shape))
            ],
            (2, 3),
            30,
        ),
        unrefuted(768),
        seconds=3,
    ),
    Claim(
        "lifted-priority-above-priority-deep",
        "The lift never accepts less than the priority rule node by node.",
        "open",
        "a token with two children of which the second has a path of two, V = 2, i.i.d. siblings",
        refuted_on(later_child(), _lift_never_below),
        REFUTED,
        note="E[tau] 1 of the lift, 9/8 node by node: p(0) = 1/2 and q(0) = 1 at the root, p = (1, 0) below "
        "it, q = (1/2, 1/2) once. The lift gives its rate 1/2 to the first child, a leaf",
    ),
)
