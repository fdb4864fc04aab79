"""The priority rule for siblings drawn without replacement, and for K paths merged by prefix, lifted.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree((((),), ((),))), 3), VERIFIER).expected_accepted
79/50
"""

from dataclasses import dataclass
from typing import Any

from draftproof.theory.rows import Number, Row, minimum, one, possible, ratio, share
from draftproof.theory.shared.memo import remembered
from draftproof.theory.transport.siblings import set_law
from draftproof.theory.verifier import CHAIN, PATHS, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.lifted_priority import lifted


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The lift of `by_sets`."""
    return lifted(oracle, draft, target, planned)


@dataclass(frozen=True)
class Plan:
    """`rate[x]`: the chance that x, drawn and judged, is kept; tokens stand in the order of judging. `left`:
    what the kept ones leave of t.
    """

    rate: dict[int, Number]
    left: Row

    def shares(self, node: Node) -> list[Any]:
        """The probability with which each drafted child is the one that is kept, in drawing order."""
        drawn = {child.token for child in node.children}
        unkept, kept = one(self.left), {}
        for x, rate in self.rate.items():
            if x in drawn:
                kept[x] = unkept * rate
                unkept = unkept - kept[x]
        return [kept[child.token] for child in node.children]


def planned(draft: Draft, node: Node, t: Row) -> Plan:
    """The plan of a drafted node."""
    return by_sets(t, node.proposal, len(node.shape), draft.merged)


@remembered(4096)
def by_sets(t: Row, q: Row, count: int, replacement: bool) -> Plan:
    """Tokens in the order of t(x) over the chance pi(x) that x is drawn, each kept as often as t allows.

    Siblings are not independent, so the chance that x is drawn and no token before it was kept is a sum over
    all sets that can be drawn: the rule is for toy vocabularies.
    """
    draws, left = set_law(q, count, replacement), list(t)
    with_x = {x: [(s, mass) for s, mass in draws.items() if x in s] for x in range(len(q)) if possible(q[x])}
    pi = {x: sum((mass for _, mass in found), 0 * t[x]) for x, found in with_x.items()}
    rate: dict[int, Number] = {}
    for x in sorted(pi, key=lambda x: ratio(t[x], pi[x]), reverse=True):
        reach = 0 * t[x]
        for s, mass in with_x[x]:
            for y in s & rate.keys():
                mass = mass * (1 - rate[y])
            reach = reach + mass
        rate[x] = share(left[x], reach)
        left[x] = left[x] - minimum(left[x], reach)
    return Plan(rate, tuple(left))


VERIFIER = Verifier(
    "lifted-without",
    "draftproof, docs/near-optimal.md: the priority rule for draws without replacement",
    (*CHAIN, "tree without replacement", *PATHS),
    lossless=True,
    verify=verify,
    ordered=True,
)
