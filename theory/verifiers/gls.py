"""GLS: drafts and target token are winners of races on shared exponential noise.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted
15989/23100
"""

from draftproof.theory.rows import normalise, point
from draftproof.theory.shared.races import target_law
from draftproof.theory.verifier import CHAIN, PATHS, Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Y = argmin_i min_k E_i^(k) / p_i, where X^(k) = argmin_i E_i^(k) / q_i; descend if a draft is Y.

    The noise is never drawn: given the drafts, Y is chosen by its exact law, which makes (X, Y)
    jointly what the shared noise makes it. The drafts of a node are i.i.d. from q; of merged paths
    those that agree with the accepted tokens are in the race, the others have left it.
    """
    node = draft.root
    while node.children:
        p = target[node.prefix]
        y = oracle.choose(normalise(target_law(p, node.proposal, draft.drawn(node))))
        child = node.child(y)
        if child is None:
            return node, point(y, p)
        node = child
    return node, target[node.prefix]


VERIFIER = Verifier(
    "gls",
    "rowan2025list, Gumbel-max list sampling",
    (*CHAIN, *PATHS, "tree with replacement"),
    lossless=True,
    verify=verify,
    ordered=True,
    node_by_node=True,
)
