"""The lift of Hu et al.'s rule for greedy drafts to trees: the optimum of every node, from leaf to root.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.greedy import Greedy
>>> emission(scenario("toy", Greedy((((),), ((),))), 3), VERIFIER).expected_accepted
38/25
"""

from dataclasses import dataclass
from typing import Any

from draftproof.theory.rows import Row, add, excess, meet, point, scale, share, total, without
from draftproof.theory.verifier import Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.lifted_priority import lifted


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The lift of `planned`."""
    return lifted(oracle, draft, target, planned)


@dataclass(frozen=True)
class Kept:
    """`each`: the probability with which each child is the one kept. `left`: what that leaves of t."""

    each: list[Any]
    left: Row

    def shares(self, node: Node) -> list[Any]:
        return self.each


def planned(draft: Draft, node: Node, t: Row) -> Kept:
    """The sampled child x is kept with min(1, t / q~), q~ = norm(q off T), T the other children. If x is not
    kept, each y of T is kept with t(y) over the probability that x is not. So every token of T gets all of
    its t, and the others get min(t, q~), the most that this draft allows (hu2025towards).
    """
    x, *T = (child.token for child in node.children)
    q = without(node.proposal, *T)
    kept, refused = share(t[x], q[x]), 1 - total(meet(t, q))
    given = q
    for y in T:
        given = add(given, scale(t[y], point(y, t)))
    return Kept([kept, *((1 - kept) * share(t[y], refused) for y in T)], excess(t, given))


VERIFIER = Verifier(
    "lifted-hu-greedy",
    "draftproof, docs/near-optimal.md: the lift of the rule of hu2025towards for greedy drafts",
    ("greedy",),
    lossless=True,
    verify=verify,
)
