"""Verification of Hu et al.'s greedy draft: one sampled child beside the likeliest tokens.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.greedy import Greedy
>>> emission(scenario("toy", Greedy(((), ())), 3), VERIFIER).expected_accepted
9/10
"""

from draftproof.theory.rows import excess, normalise, point, share, without
from draftproof.theory.verifier import Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept the sampled child with min(1, p / q~), q~ = norm(q off T), T the other children.

    Otherwise y ~ norm((p - q~)+), and y in T is an accepted child. Where q has nothing off T the
    first child is its likeliest token, q~ is one-hot there, and the rule is still exact.
    """
    node = draft.root
    while node.children:
        x, *T = [child.token for child in node.children]
        p, q = target[node.prefix], without(node.proposal, *T)
        y = x if oracle.accept(share(p[x], q[x])) else oracle.choose(normalise(excess(p, q)))
        child = node.child(y)
        if child is None:
            return node, point(y, p)
        node = child
    return node, target[node.prefix]


VERIFIER = Verifier(
    "hu-greedy", "hu2025towards, greedy draft", ("greedy",), lossless=True, verify=verify, node_by_node=True
)
