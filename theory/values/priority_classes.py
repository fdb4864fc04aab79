"""The priority rule in classes: what a verifier needs of two rows is a few sums, and no token is sorted.

Tokens lie in classes by the ratio of p and the siblings' mean row. A class c of sibling j has one *cut*: of
each of its tokens the siblings up to j keep min(p, cut mean) / p of its mass. Its lower edge is at most every
ratio of the class, its upper edge more than each. A cut between the edges would need a sum of minima; it is
lowered to the lower edge, and any other follows from the sums of p and of the mean row. Scaling p by the
entry rate a does not change a token's class, so a lift computes the class sums once.
"""

from bisect import bisect_left
from math import prod

from flint import fmpq

from draftproof.theory.draft import Draft, Node
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, one, scale, share, total
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop
from draftproof.theory.verifiers.lifted_priority import lifted
from draftproof.theory.verifiers.optimal import descend
from draftproof.theory.verifiers.shared.priority import Plan, included

PARTS, HIGHEST, CLASSES = 8, 4, 64
"""Classes in a factor of 2 of the ratio; the first holds the ratios from 2^HIGHEST on; how many there are."""

SHIFT = 1 + fmpq(1, 2**16)
"""Edges are divided by this factor, so that a common ratio such as 1 is inside a class, not on its edge."""

EDGES = (
    *(
        fmpq(PARTS + k % PARTS, PARTS) * fmpq(2) ** (k // PARTS) / SHIFT
        for k in range(HIGHEST * PARTS, HIGHEST * PARTS - CLASSES + 1, -1)
    ),
    fmpq(0),
)
"""The lower edge of each class. Before the shift it is a float whose mantissa has three bits, so that a class
is the head of a float's bits."""


def kind(ratio: fmpq) -> int:
    """The class of a ratio.

    >>> kind(fmpq(1)), kind(fmpq(9, 8)), kind(fmpq(99)), kind(fmpq(0))
    (32, 31, 0, 63)
    """
    return bisect_left(EDGES, True, key=lambda edge: edge <= ratio)


def in_classes(draft: Draft, node: Node, t: Row) -> Plan:
    """The plan of a drafted node, t = a p: class by class, sibling by sibling.

    i.i.d. siblings share each cut and raise it in turn. Of a stratified node each has cuts of its own: a
    token that two strata share counts as two, with p in proportion.
    """
    laws, a = draft.laws(node), total(t)
    zero, unit = 0 * a, len(laws) if draft.stratified else 1
    mean = scale(1 / (one(t) * len(laws)), included(laws))
    drafted = [x for x, mass in enumerate(mean) if mass > 0]
    ratio = {x: t[x] / (a * mean[x]) if a > 0 else zero for x in drafted}
    classes: dict[int, list[int]] = {}
    for x in drafted:
        classes.setdefault(kind(ratio[x]), []).append(x)
    left, unkept, rate = list(t), [one(t) for _ in laws], {}
    for c in sorted(classes):
        cut = zero
        for j, R in enumerate(laws):
            before = zero if draft.stratified else cut
            reach = prod((chance for i, chance in enumerate(unkept) if i != j), start=one(t))
            cut = before + (unit * reach / a if a > 0 else zero)
            for x in classes[c]:
                if R[x] > 0:
                    part = kept(ratio[x], cut, c) - kept(ratio[x], before, c)
                    mass = a * R[x] / unit * part
                    rate[x, j] = share(mass, R[x] * reach) if a > 0 else zero
                    left[x] = left[x] - mass
                    unkept[j] = unkept[j] - R[x] * rate[x, j]
    return Plan(rate, tuple(left))


def kept(ratio: fmpq, cut: fmpq, c: int) -> fmpq:
    """What a cut keeps of a token of class c, over its q: the chord of min(ratio, cut) between the edges."""
    low, high = EDGES[c], EDGES[c - 1] if c else None
    slope = 0 if high is None or cut < low else min((cut - low) / (high - low), 1)
    return min(cut, low) + slope * (ratio - low)


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Node by node. Children are entered in drawing order, each with its share of what earlier ones left."""
    return descend(oracle, draft, target, in_classes)


def verify_lifted(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """From leaf to root."""
    return lifted(oracle, draft, target, in_classes)
