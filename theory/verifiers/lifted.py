"""The lift of an optimal single-step rule to trees, from leaf to root, child by child.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree((((),), ((),))), 3), VERIFIER).expected_accepted
79/50
"""

from draftproof.theory.rows import Number, normalise, one, positive, scale, share
from draftproof.theory.transport.level import plan
from draftproof.theory.transport.siblings import law_below, siblings
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.layered import shared


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The root is entered with rate 1."""
    stop = lift(oracle, draft, draft.root, one(target[draft.root.prefix]), target)
    assert stop is not None, "entered with rate 1: (1 - A) / (1 - A)"
    return stop


def lift(oracle: Oracle, draft: Draft, v: Node, a: Number, target: Rows) -> Stop | None:
    """The subtree of v, entered with rate a: where it stops, with probability a, or None.

    The rule gives exclusive masses w_1..w_k to the children, of mean total A; each child's subtree
    in turn is entered with w_j over what the earlier ones left; then v itself stops with
    (a - A) / (1 - A), Y from what the rule leaves of a p.
    """
    p = target[v.prefix]
    if not v.children:
        return (v, p) if oracle.accept(a) else None
    row = scale(a, p)
    planned = plan([row], [law_below(draft, v)], one(p))
    left = one(p)
    for child, w in shared(v, planned.given(siblings(v))):
        if stop := lift(oracle, draft, child, share(w, left), target):
            return stop
        left = left - w
    A = planned.accepted
    return (v, normalise(planned.residual(0, row))) if oracle.accept(share(positive(a - A), 1 - A)) else None


VERIFIER = Verifier(
    "lifted",
    "draftproof, docs/findings.md: the lift of optimal transport, after weng2025traversal",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    ordered=True,
    forms={"theory.values.chains:block": CHAIN, "theory.values.lifts:lifted": (*TREES, *PATHS)},
)
