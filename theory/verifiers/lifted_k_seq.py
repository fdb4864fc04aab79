"""The lift of K-SEQ to trees, from leaf to root: a lift in closed form.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> round(float(emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted), 6)
0.708062
"""

from draftproof.theory.rows import Number, Row, add, excess, meet, normalise, one, scale, share, total
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.k_seq import geometric, smallest_rho

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
    t = scale(a, p)
    entries, taken = carried(t, v.proposal, len(v.children))
    for child, (mass, most) in zip(v.children, entries, strict=True):
        if stop := lift(oracle, child, share(mass[child.token], most[child.token]), target):
            return stop
    rest = excess(t, taken)
    return (v, normalise(rest)) if oracle.accept(share(total(rest), 1 - total(taken))) else None


def carried(t: Row, q: Row, k: int) -> tuple[list[tuple[Row, Row]], Row]:
    """What k children drawn from q take of the row t: for each in turn a pair of rows, of which it is entered
    with `share` of its token's entries, and what they take together on average.

    >>> from draftproof.theory.numbers import exact
    >>> entries, taken = carried((exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3")), 1)
    >>> entries, taken
    ([((1/3, 2/3), (2/3, 1/3))], (1/3, 1/3))
    """
    rho = smallest_rho(t, q, k, STEPS)
    kept = meet(scale(1 / rho, t), q)
    beta = total(kept)
    late = (1 - beta) ** (k - 1)  # the chance that the last child is tried
    early = geometric(beta, k) - late
    t_last, q_last = scale(1 - early / rho, t), scale(late, q)
    entries = [(t, scale(rho, q))] * (k - 1) + [(t_last, q_last)]
    return entries, add(scale(early, kept), meet(t_last, q_last))


VERIFIER = Verifier(
    "lifted-k-seq",
    "draftproof, docs/findings.md: the lift of sun2023spectr, Algorithm 2",
    (*CHAIN, "tree with replacement"),
    lossless=True,
    verify=verify,
    ordered=True,
)
