"""The lift of K-SEQ to trees, from leaf to root: a lift in closed form."""

from theory.draft import Draft, Node
from theory.oracle import Oracle
from theory.rows import Number, add, excess, meet, normalise, one, scale, share, total
from theory.table import Rows
from theory.verifier import CHAIN, Stop, Verifier
from theory.verifiers.k_seq import geometric, smallest_rho

STEPS = 2**40
"""rho is the smallest multiple of 1/STEPS that the rule allows: rho* to more digits than a float32 has, so
that batches agree with this, also where little is left for the last child to take.
"""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The root is entered with rate 1."""
    stop = lift(oracle, draft.root, one(target[draft.root.prefix]), target)
    assert stop is not None, "entered with rate 1: (1 - A) / (1 - A)"
    return stop


def lift(oracle: Oracle, v: Node, a: Number, target: Rows) -> Stop | None:
    """The subtree of v, entered with rate a: where it stops, with probability a, or None.

    K-SEQ on t = a p: each child's subtree in turn is entered with min(1, t / (rho q)), whatever the
    earlier ones were; the last one with min(1, t / (rho' q)), rho' <= rho, so that a token with t < rho' q
    gives all its mass, as each would at rho*. Then v itself stops with (a - A) / (1 - A), Y from what
    the children leave of t, A what they take.
    """
    p = target[v.prefix]
    if not v.children:
        return (v, p) if oracle.accept(a) else None
    t, q, k = scale(a, p), v.proposal, len(v.children)
    rho = smallest_rho(t, q, k, STEPS)
    kept = meet(scale(1 / rho, t), q)
    beta = total(kept)
    late = (1 - beta) ** (k - 1)  # the chance that the last child is tried
    early = geometric(beta, k) - late
    t_last, q_last = scale(1 - early / rho, t), scale(late, q)
    *others, last = v.children
    rates = [share(t[x.token], rho * q[x.token]) for x in others]
    for child, rate in zip(v.children, [*rates, share(t_last[last.token], q_last[last.token])], strict=True):
        if stop := lift(oracle, child, rate, target):
            return stop
    taken = add(scale(early, kept), meet(t_last, q_last))
    rest = excess(t, taken)
    return (v, normalise(rest)) if oracle.accept(share(total(rest), 1 - total(taken))) else None


VERIFIER = Verifier(
    "lifted-k-seq",
    "draftproof, docs/layered.md: the lift of sun2023spectr, Algorithm 2",
    (*CHAIN, "tree with replacement"),
    lossless=True,
    verify=verify,
    ordered=True,
)
