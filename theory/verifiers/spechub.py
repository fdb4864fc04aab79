"""SpecHub: the optimal plan for two drafts of which one is always the hub token.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.spechub import SpecHub
>>> emission(scenario("toy", SpecHub(1), 3), VERIFIER).expected_accepted
9/10
"""

from draftproof.theory.rows import descending, excess, meet, one, positive, share, total, without
from draftproof.theory.verifier import Draft, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Hub a = argmax q, q~ = norm(q off a): pairs (x, a) have mass q(x), pairs (a, x) q(a) q~(x).

    x is kept out of (x, a) with min(1, p/q), and out of (a, x) with what p has left; pairs that
    do not keep x keep a with p(a) / L, L = 1 - sum min(p, q~) their mass; else Y ~ norm((p - q~)+ off a).
    """
    node = draft.root
    while node.children:
        p, q = target[node.prefix], node.proposal
        a = descending(q)[0]
        beside = without(q, a)
        kept = None
        for child in node.children:
            x, first = child.token, child is node.children[0]
            if x != a:
                left = share(p[x], q[x]) if first else share(positive(p[x] - q[x]), q[a] * beside[x])
                kept = child if oracle.accept(left) else None
        hub = node.child(a)
        if kept is None and hub is not None:
            L = one(p) - total(meet(p, beside))
            kept = hub if oracle.accept(share(p[a], L)) else None
        if kept is None:
            return node, without(excess(p, beside), a)
        node = kept
    return node, target[node.prefix]


VERIFIER = Verifier(
    "spechub",
    "sun2024spechub, Algorithm 1",
    ("spechub",),
    lossless=True,
    verify=verify,
    ordered=True,
    node_by_node=True,
)
