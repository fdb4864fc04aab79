"""Khisti et al.'s canonical decomposition: select one of the drafts, then verify it as a single one.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ())), 3), VERIFIER).expected_accepted
19/20
"""

from collections.abc import Callable

from draftproof.theory.rows import Row, excess, normalise, share
from draftproof.theory.transport.single_step import Selection, canonical
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Draft, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.optimal_transport import chosen


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Select child i of the drawn set with an importance weight beta(i | t), chosen such that the
    selected token's law d has the largest sum min(p, d); accept it with min(1, p/d), else
    Y ~ norm((p - d)+). Lossless for any beta; with this one it accepts with alpha*.
    """
    return selected(oracle, draft, target, canonical)


def selected(
    oracle: Oracle, draft: Draft, target: Rows, rule: Callable[[Row, Row, int, bool], Selection]
) -> Stop:
    """The descent by what a rule selects, given p, q, how many are drawn, and if with replacement."""
    node = draft.root
    while node.children:
        p, tokens = target[node.prefix], draft.drawn(node)
        selection = rule(p, node.proposal, len(tokens), draft.replacement or draft.merged)
        child, d = chosen(node, oracle.choose(selection.weights[frozenset(tokens)])), selection.law
        if not oracle.accept(share(p[child.token], d[child.token])):
            return node, normalise(excess(p, d))
        node = child
    return node, target[node.prefix]


VERIFIER = Verifier(
    "khisti",
    "khisti2025multidraft, Theorem 1",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    ordered=True,
    node_by_node=True,
)
