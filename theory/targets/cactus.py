"""Cactus: a drafted token's target probability is raised as far as a divergence budget seems to allow.

The budget is one of each drafted token: for every x a row h_x with KL(h_x || p) near delta, by the leading
term. The law that comes out is a mixture of rows which are chosen by the draft, and is not bounded by it.

>>> from draftproof.simulators.laws.verdicts.against import judge_against
>>> from draftproof.theory.drafts.chain import Chain
>>> from draftproof.theory.instance import context_free
>>> found = judge_against(context_free(["1/2", "1/2"], [0, 1], Chain(1)), CACTUS.rule, CACTUS)
>>> round(found.token.kl, 4), found.over
(0.0509, True)
"""

from itertools import pairwise
from math import isqrt

from flint import fmpq

from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, excess, minimum, normalise, share
from draftproof.theory.table import Rows
from draftproof.theory.targets.declared import KL, Budget, Declared
from draftproof.theory.verifier import Draft, Stop

BITS = 32
"""The square root is rounded down to so many binary places; the rule with that number is judged exactly."""


def verify(delta: fmpq, oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Accept x with min(1, h_x(x) / q(x)); at the first rejection Y ~ norm((h_x - q)+), with
    h_x(x) = min(1, p(x) + sqrt(2 delta p(x) (1 - p(x)))) and h_x = p, scaled, elsewhere.
    """
    for node, child in pairwise(draft.path):
        q, x = node.proposal, child.token
        h = raised(target[node.prefix], x, delta)
        if not oracle.accept(share(h[x], q[x])):
            return node, normalise(excess(h, q))
    leaf = draft.path[-1]
    return leaf, target[leaf.prefix]


def raised(p: Row, x: int, delta: fmpq) -> Row:
    """p with the probability of x raised, and the others scaled to the rest.

    >>> raised((fmpq(1, 2), fmpq(1, 4), fmpq(1, 4)), 0, fmpq(1, 8))
    (3/4, 1/8, 1/8)
    """
    one = fmpq(1)
    top = minimum(p[x] + root(2 * delta * p[x] * (1 - p[x])), one)
    rest = share(one - top, one - p[x])
    return tuple([top if y == x else mass * rest for y, mass in enumerate(p)])


def bound(p: Row, q: Row, delta: fmpq) -> fmpq:
    """delta."""
    return delta


def root(number: fmpq) -> fmpq:
    """The square root, rounded down to BITS binary places."""
    scaled = number * 4**BITS
    return fmpq(isqrt(int(scaled.p) // int(scaled.q)), 2**BITS)


CACTUS = Declared(
    "cactus",
    "hao2026cactus, released code (solve_constraint)",
    verify=verify,
    parameter=fmpq(1, 20),
    budget=Budget(KL, bound, kept=False),
)
DECLARED = (CACTUS,)
