"""Greedy multi-path block verification: the best-ranked of K paths, judged against its own law.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.paths import Paths
>>> emission(scenario("toy", Paths(2, 2)), VERIFIER).expected_accepted
131/81
"""

from draftproof.theory.draft import chained
from draftproof.theory.rows import Number, Row, one
from draftproof.theory.verifier import CHAIN, PATHS, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers import block


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Follow the drafted child of the largest p/q from the root; then block verification with the
    selected path's own law d in the place of q.
    """
    K = len(draft.paths)
    node = draft.root
    J = C = one(target[node.prefix])
    laws: list[Row] = []
    while node.children:
        ranked = ranking(target[node.prefix], node.proposal)
        d, J, C, node = select(node, ranked, J, C, K)
        laws.append(d)
    return block.verify(oracle, Draft(chained(node.prefix, laws)), target)


def ranking(p: Row, q: Row) -> list[int]:
    """Tokens that can be drafted, smallest p/q first; of equal ones the smaller id ranks higher."""
    drafted = [x for x in reversed(range(len(q))) if q[x] > 0]
    return sorted(drafted, key=lambda x: p[x] / q[x])


def select(node: Node, ranked: list[int], J: Number, C: Number, K: int) -> tuple[Row, Number, Number, Node]:
    """The selected path's law below `node`, and J, C and the node of its best-ranked child.

    J is the q-mass of the prefix, C that of all prefixes ranked at or below it. Of K paths the
    best one passes through x with probability hi^K - lo^K, where hi = (C - J) + J F(x), F the
    cumulative q up to x in rank order, and lo = hi - J q(x); d is that over the prefix's own.
    """
    q = node.proposal
    whole = C**K - (C - J) ** K
    d = [q[0] - q[0]] * len(q)
    hi = C - J
    best = node.children[0]
    for x in ranked:
        lo, hi = hi, hi + J * q[x]
        d[x] = (hi**K - lo**K) / whole
        child = node.child(x)
        if child is not None:
            best, best_C = child, hi
    return tuple(d), J * q[best.token], best_C, best


VERIFIER = Verifier(
    "multipath-block",
    "thomas2026multipath, greedy multi-path block verification",
    (*PATHS, *CHAIN),
    lossless=True,
    verify=verify,
    ordered=True,
)
