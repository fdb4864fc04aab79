"""The lift of K-SEQ to trees, from leaf to root: a lift in closed form."""

from theory.draft import Draft, Node
from theory.oracle import Oracle
from theory.rows import Number, excess, meet, normalise, one, positive, scale, share, total
from theory.table import Rows
from theory.verifier import CHAIN, Stop, Verifier
from theory.verifiers.k_seq import geometric, smallest_rho

STEPS = 2**24
"""rho is the smallest multiple of 1/STEPS that the rule allows: rho* as float32 would round it, upwards."""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The root is entered with rate 1."""
    stop = lift(oracle, draft.root, one(target[draft.root.prefix]), target)
    assert stop is not None, "entered with rate 1: (1 - A) / (1 - A)"
    return stop


def lift(oracle: Oracle, v: Node, a: Number, target: Rows) -> Stop | None:
    """The subtree of v, entered with rate a: where it stops, with probability a, or None.

    K-SEQ on t = a p: each child's subtree in turn is entered with min(1, t / (rho q)), whatever the
    earlier ones were. With kept = min(t/rho, q) and beta = sum kept all children together take
    A = 1 - (1 - beta)^k of the mass, kept A / beta of it token by token; then v itself stops with
    (a - A) / (1 - A), Y ~ norm(t - kept A / beta).
    """
    p = target[v.prefix]
    if not v.children:
        return (v, p) if oracle.accept(a) else None
    t, q, k = scale(a, p), v.proposal, len(v.children)
    rho = smallest_rho(t, q, k, STEPS)
    for child in v.children:
        if stop := lift(oracle, child, share(t[child.token], rho * q[child.token]), target):
            return stop
    kept = meet(scale(1 / rho, t), q)
    rest = excess(t, scale(geometric(total(kept), k), kept))
    left = (1 - total(kept)) ** k
    return (v, normalise(rest)) if oracle.accept(share(positive(total(rest)), left)) else None


VERIFIER = Verifier(
    "lifted-k-seq",
    "draftproof, docs/layered.md: the lift of sun2023spectr, Algorithm 2",
    (*CHAIN, "tree with replacement"),
    lossless=True,
    verify=verify,
    ordered=True,
)
