"""K-SEQ: the sequential approximation of optimal transport for k i.i.d. drafts.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> round(float(emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted), 6)
0.708027
"""

from draftproof.theory.rows import Number, Row, excess, meet, normalise, point, scale, share, total
from draftproof.theory.shared.memo import remembered
from draftproof.theory.verifier import CHAIN, Draft, Oracle, Rows, Stop, Verifier

STEPS = 1024
"""rho is the smallest multiple of 1/STEPS that the rule allows; rho* itself is algebraic."""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Children in order, each accepted with probability min(1, p / (rho q)).

    None accepted: y ~ norm(p - min(p/rho, q) (1 - (1 - beta)^k) / beta), with
    beta = sum min(p/rho, q); descend if y was drafted.
    """
    node = draft.root
    while node.children:
        p, q, k = target[node.prefix], node.proposal, len(node.children)
        rho = smallest_rho(p, q, k)
        for child in node.children:
            if oracle.accept(share(p[child.token], rho * q[child.token])):
                break
        else:
            kept = meet(scale(1 / rho, p), q)
            y = oracle.choose(normalise(excess(p, scale(geometric(total(kept), k), kept))))
            child = node.child(y)
            if child is None:
                return node, point(y, p)
        node = child
    return node, target[node.prefix]


@remembered(1024)
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
