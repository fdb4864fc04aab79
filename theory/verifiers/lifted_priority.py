"""The lift of the priority rule to trees, from leaf to root.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.stratified import Stratified
>>> emission(scenario("toy", Stratified((((),), ((),))), 3), VERIFIER).expected_accepted
38/25
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from draftproof.theory.rows import Number, Row, normalise, one, scale, share, total
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.shared.priority import planned

Planned: TypeAlias = Callable[[Draft, Node, Row], Any]
"""What a node keeps of t: an object with `shares(node)` and `left`, as `shared.priority.Plan`."""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The lift of the plan in which every token is a class of its own."""
    return lifted(oracle, draft, target, planned)


def lifted(oracle: Oracle, draft: Draft, target: Rows, rule: Planned) -> Stop:
    """The lift of a rule: the root is entered with rate 1."""
    stop = lift(oracle, draft, draft.root, one(target[draft.root.prefix]), target, rule)
    assert stop is not None, "entered with rate 1: S / (S + 1 - 1)"
    return stop


def lift(oracle: Oracle, draft: Draft, v: Node, a: Number, target: Rows, rule: Planned) -> Stop | None:
    """The subtree of v, entered with rate a: where it stops, with probability a, or None.

    The plan for t = a p keeps child j with probability w_j; each child's subtree, in drawing order, is
    entered with w_j over what the earlier ones left. Then v itself stops with S / (S + 1 - a), S the mass
    that the plan leaves of t, Y ~ norm(what it leaves). `rule` makes the plan of a node.
    """
    p = target[v.prefix]
    if not v.children:
        return (v, p) if oracle.accept(a) else None
    plan = rule(draft, v, scale(a, p))
    left = one(p)
    for child, w in plan.shares(v):
        if stop := lift(oracle, draft, child, share(w, left), target, rule):
            return stop
        left = left - w
    S = total(plan.left)
    return (v, normalise(plan.left)) if oracle.accept(share(S, S + (1 - a))) else None


VERIFIER = Verifier(
    "lifted-priority",
    "draftproof, docs/near-optimal.md: the lift of the priority rule",
    (*CHAIN, "tree with replacement", "stratified"),
    lossless=True,
    verify=verify,
    ordered=True,
)
