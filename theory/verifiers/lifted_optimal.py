"""The optimum of every node, lifted to trees from leaf to root.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.stratified import Stratified
>>> emission(scenario("toy", Stratified((((),), ((),))), 3), VERIFIER).expected_accepted
38/25
"""

from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.lifted_priority import lifted
from draftproof.theory.verifiers.shared.optimal import planned_in_lift


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The lift of `planned_in_lift`, as `lifted-priority` is that of the priority rule's plan."""
    return lifted(oracle, draft, target, planned_in_lift)


VERIFIER = Verifier(
    "lifted-optimal",
    "draftproof, docs/near-optimal.md: the lift of the optimum of a node",
    (*CHAIN, "tree with replacement", "stratified", "greedy"),
    lossless=True,
    verify=verify,
    ordered=True,
    batched="gpu.verify.optimal:LIFTED_OPTIMAL",
    kernel="gpu.kernels.nodes:CELLS",
)
