"""Khisti et al.'s canonical decomposition: select one of the drafts, then verify it as a single one.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ())), 3), VERIFIER).expected_accepted
19/20
"""

from collections.abc import Mapping

from draftproof.theory.rows import Number, Row, excess, normalise, share
from draftproof.theory.transport.single_step import Plan, canonical
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.optimal_transport import chosen


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Select child i of the drawn set with an importance weight beta(i | t), chosen such that the
    selected token's law d has the largest sum min(p, d); accept it with min(1, p/d), else
    Y ~ norm((p - d)+). Lossless for any beta; with this one it accepts with alpha*.
    """
    node = draft.root
    while node.children:
        p, tokens = target[node.prefix], draft.drawn(node)
        selection = canonical(p, node.proposal, len(tokens), draft.replacement or draft.merged)
        child = select(oracle, node, selection.weights, frozenset(tokens))
        d = selection.law
        if not oracle.accept(share(p[child.token], d[child.token])):
            return node, normalise(excess(p, d))
        node = child
    return node, target[node.prefix]


def select(oracle: Oracle, node: Node, weights: Plan, drawn: frozenset[int]) -> Node:
    """The child that the weights of the drawn set choose."""
    return chosen(node, oracle.choose(spread(weights[drawn], node.proposal)))


def spread(weights: Mapping[int, Number], like: Row) -> Row:
    """Weights by token as a row."""
    zero = like[0] - like[0]
    return tuple(weights.get(x, zero) for x in range(len(like)))


VERIFIER = Verifier(
    "khisti",
    "khisti2025multidraft, Theorem 1",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    ordered=True,
    node_by_node=True,
)
