"""The priority rule stage by stage, lifted: what one stage of siblings leaves is judged by the next.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.stages import Stages
>>> emission(scenario("toy", Stages((((),), ())), 3), VERIFIER).expected_accepted
31/25
"""

from draftproof.theory.rows import Number, normalise, one, scale, share, total
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.shared.priority import planned


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The root is entered with rate 1."""
    stop = judged(oracle, draft, draft.root, one(target[draft.root.prefix]), target)
    assert stop is not None, "a stays 1: S / (S + 1 - 1)"
    return stop


def judged(oracle: Oracle, draft: Draft, v: Node, a: Number, target: Rows) -> Stop | None:
    """The subtree of v, entered with rate a: where it stops, with probability a, or None.

    The siblings of a stage were drawn independently: the plan for a p keeps sibling j with probability w_j,
    and its subtree is entered with w_j over what the earlier ones of the stage left. Then S is the mass that
    the plan leaves of a p; p <- norm(what it leaves), a <- S / (S + 1 - a), as in Traversal Verification, of
    which each stage of one sibling is a step.
    """
    p = target[v.prefix]
    for stage in draft.stages(v):
        plan, left = planned(draft, stage, scale(a, p)), one(p)
        for child, w in zip(stage.children, plan.shares(stage), strict=True):
            if stop := judged(oracle, draft, child, share(w, left), target):
                return stop
            left = left - w
        S = total(plan.left)
        p, a = normalise(plan.left), share(S, S + (1 - a))
    return (v, p) if oracle.accept(a) else None


VERIFIER = Verifier(
    "lifted-stages",
    "draftproof, docs/near-optimal.md: the priority rule stage by stage",
    (*CHAIN, "stages"),
    lossless=True,
    verify=verify,
    ordered=True,
)
