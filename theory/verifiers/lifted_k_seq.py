"""The lift of K-SEQ to trees, from leaf to root: a lift in closed form.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> round(float(emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted), 6)
0.708062
"""

from draftproof.theory.rows import Row, add, excess, meet, scale, total
from draftproof.theory.shared.memo import remembered
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.k_seq import geometric, in_turn, smallest_rho
from draftproof.theory.verifiers.lifted_priority import lifted
from draftproof.theory.verifiers.shared.priority import Plan

STEPS = 2**40
"""rho is the smallest multiple of 1/STEPS that the rule allows: rho* to more digits than a float32 has, so
that batches agree with this, also where little is left for the last child to take.
"""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The lift of K-SEQ's plan, as `lifted-priority` is of its own plan."""
    return lifted(oracle, draft, target, planned)


def planned(draft: Draft, node: Node, t: Row) -> Plan:
    """The plan of a drafted node."""
    return plan(t, node.proposal, len(node.children))


@remembered(1024)
def plan(t: Row, q: Row, k: int) -> Plan:
    """The plan for k siblings: one is kept with min(1, t / (rho q)), the last one with min(1, t / (rho' q)),
    rho' <= rho, so that a token with t < rho' q gives all its mass, as each would at rho*.
    """
    rho = smallest_rho(t, q, k, STEPS)
    kept = meet(scale(1 / rho, t), q)
    beta = total(kept)
    late = (1 - beta) ** (k - 1)  # the chance that the last child is tried
    early = geometric(beta, k) - late
    t_last, q_last = scale(1 - early / rho, t), scale(late, q)
    taken = add(scale(early, kept), meet(t_last, q_last))
    return in_turn([(t, scale(rho, q))] * (k - 1) + [(t_last, q_last)], excess(t, taken))


VERIFIER = Verifier(
    "lifted-k-seq",
    "draftproof, docs/findings.md: the lift of sun2023spectr, Algorithm 2",
    (*CHAIN, "tree with replacement"),
    lossless=True,
    verify=verify,
    ordered=True,
)
