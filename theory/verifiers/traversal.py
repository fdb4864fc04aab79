"""Traversal Verification: subtrees are judged from leaf to root.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree((((),), ((),))), 3), VERIFIER).expected_accepted
34/25
"""

from draftproof.theory.rows import Number, excess, normalise, one, scale, share, total, without
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Draft, Node, Oracle, Rows, Stop, Verifier


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """a(root) = 1 and a(x) = min(1, a(parent) p(x)/q(x)) below; take the first leaf, depth first.

    Accepted with probability a(x): stop there, Y ~ its row. Rejected: drop it, and at its parent f
    S = sum (a p - q)+;  p <- norm((a p - q)+);  a <- S / (S + 1 - a), and q loses x if drawn
    without replacement; then the next leaf.
    """
    stop = traverse(oracle, draft, draft.root, one(target[draft.root.prefix]), target)
    assert stop is not None, "a(root) stays 1: S / (S + 1 - 1)"
    return stop


def traverse(oracle: Oracle, draft: Draft, f: Node, a: Number, target: Rows) -> Stop | None:
    """The subtree of f, entered with rate a: where it stops, or None when all of it is rejected."""
    p, q = target[f.prefix], f.proposal
    for child in f.children:
        x = child.token
        if stop := traverse(oracle, draft, child, share(a * p[x], q[x]), target):
            return stop
        residual = excess(scale(a, p), q)
        S = total(residual)
        p, a = normalise(residual), share(S, S + (1 - a))
        if not draft.replacement:
            q = without(q, x)
    return (f, p) if oracle.accept(a) else None


VERIFIER = Verifier(
    "traversal",
    "weng2025traversal, Algorithm 3",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    batched="gpu.verify.recursive:TRAVERSAL",
    kernel="gpu.kernels.nodes:RATES",
)
