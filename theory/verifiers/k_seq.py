"""K-SEQ: the sequential approximation of optimal transport for k i.i.d. drafts.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> round(float(emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted), 6)
0.708027
"""

from collections.abc import Sequence

from draftproof.theory.rows import Number, Row, excess, meet, normalise, point, scale, share, total
from draftproof.theory.shared.memo import remembered
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.shared.priority import Plan

STEPS = 1024
"""rho is the smallest multiple of 1/STEPS that the rule allows; rho* itself is algebraic."""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Children in order, each kept with probability min(1, p / (rho q)).

    None kept: y ~ norm(what they leave of p); descend if y was drafted.
    """
    node = draft.root
    while node.children:
        plan = planned(draft, node, target[node.prefix])
        for child, rate in plan.judged(node):
            if oracle.accept(rate):
                node = child
                break
        else:
            y = oracle.choose(normalise(plan.left))
            child = node.child(y)
            if child is None:
                return node, point(y, plan.left)
            node = child
    return node, target[node.prefix]


def planned(draft: Draft, node: Node, t: Row) -> Plan:
    """The plan of a drafted node."""
    return plan(t, node.proposal, len(node.children))


@remembered(1024)
def plan(t: Row, q: Row, k: int) -> Plan:
    """The plan for k siblings: t - min(t/rho, q) (1 - (1 - beta)^k) / beta is left."""
    rho = smallest_rho(t, q, k)
    kept = meet(scale(1 / rho, t), q)
    return in_turn([(t, scale(rho, q))] * k, excess(t, scale(geometric(total(kept), k), kept)))


def in_turn(entries: Sequence[tuple[Row, Row]], left: Row) -> Plan:
    """The plan in which child j, judged in its turn, is kept with `share(mass[x], most[x])` of entry j."""
    pairs = [(j, x, mass, most) for j, (mass, most) in enumerate(entries) for x in range(len(left))]
    return Plan({(x, j): share(mass[x], most[x]) for j, x, mass, most in pairs}, left)


def smallest_rho(p: Row, q: Row, k: int, steps: int = STEPS) -> Number:
    """The smallest rho = n/steps in [1, k] with 1 - (1 - beta)^k <= rho beta; every larger one holds too.

    Divided by beta the condition reads 1 + (1 - beta) + .. + (1 - beta)^{k-1} <= rho. The mass of p
    may be less than 1.
    """
    number = type(p[0])
    low, high = steps - 1, k * steps  # low fails or is out of range, high holds
    while high - low > 1:
        middle = (low + high) // 2
        rho = number(middle) / steps
        holds = geometric(total(meet(scale(1 / rho, p), q)), k) <= rho
        low, high = (low, middle) if holds else (middle, high)
    return number(high) / steps


def geometric(beta: Number, k: int) -> Number:
    """(1 - (1 - beta)^k) / beta = 1 + (1 - beta) + .. + (1 - beta)^{k-1}."""
    return sum(((1 - beta) ** j for j in range(1, k)), beta**0)


VERIFIER = Verifier(
    "k-seq",
    "sun2023spectr, Algorithm 2",
    (*CHAIN, "tree with replacement"),
    lossless=True,
    verify=verify,
    ordered=True,
    node_by_node=True,
)
