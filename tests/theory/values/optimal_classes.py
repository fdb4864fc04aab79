"""The optimum of a node in classes: a token becomes one of two *places*, and `optimal` plans for the places.

Tokens lie in classes by the ratio of p and the siblings' mean row. A sibling that lies between two edges
takes the upper or the lower one by a coin whose mean is its ratio, as if each token were two whose ratios are
edges. So a plan needs no more of two rows than their sums in each class, and no token is sorted; a ratio
above the highest edge is cut off to it. i.i.d. siblings share the places, others have their own: of a token
that two strata share each has its part of p. What this can cost lies in the classes at the ratio where the
optimum has its threshold.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from flint import fmpq

from draftproof.simulators.study import designs
from draftproof.theory.draft import Draft, Node
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Row, one, total
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Stop
from draftproof.theory.verifiers.lifted_priority import lifted
from draftproof.theory.verifiers.optimal import descend
from draftproof.theory.verifiers.shared import optimal
from draftproof.theory.verifiers.shared.priority import included

EDGES = tuple(map(fmpq, map(int, designs.EDGES * 2**20), [2**20] * len(designs.EDGES)))
"""The ratios of the places, exactly."""


@dataclass(frozen=True)
class Plan:
    """`found`: the plan of the places; `takes[j][x]`: how likely sibling j takes each of them if it is x.
    `left`: what the kept ones leave of t.
    """

    found: optimal.Plan
    takes: tuple[Mapping[int, Mapping[int, Any]], ...]
    left: Row

    def shares(self, node: Node) -> list[tuple[Node, Any]]:
        """The drafted children in drawing order, with the probability that each is the one that is kept.

        The first of those in a place has all of it, the first copy of its token.
        """
        tokens = [child.token for child in node.children]
        kept = [one(self.left) * 0 for _ in tokens]
        ways = (takes[x].items() for takes, x in zip(self.takes, tokens, strict=False))
        for way in product(*ways):
            places, parts = zip(*way, strict=True)
            for order, chance in self.found.chances.items():
                place = next(place for place in order if place in places)
                rate = self.found.rate[place]
                kept[tokens.index(tokens[places.index(place)])] += prod(parts, start=chance * rate)
        return list(zip(node.children, kept, strict=True))


def split(ratio: fmpq) -> dict[int, fmpq]:
    """The places that a token takes, by number, and how likely.

    A ratio between two edges takes either, with its own mean.
    """
    c = bisect_left(EDGES, True, key=lambda edge: edge <= ratio)
    if c == 0 or ratio == EDGES[c]:
        return {c: fmpq(1)}
    upper = (ratio - EDGES[c]) / (EDGES[c - 1] - EDGES[c])
    return {c - 1: upper, c: 1 - upper}


def in_classes(draft: Draft, node: Node, t: Row) -> Plan:
    """The plan of a drafted node, t = a p."""
    laws, a = draft.laws(node), total(t)
    K, pi = one(t) * len(laws), included(laws)
    parts = {x: split(K * t[x] / (a * pi[x]) if a > 0 else 0 * a) for x, mass in enumerate(pi) if mass > 0}
    own = 0 if draft.replacement else len(EDGES)
    used = sorted({c + own * j for j, R in enumerate(laws) for x in parts if R[x] > 0 for c in parts[x]})
    takes = tuple(
        {x: {used.index(c + own * j): part for c, part in parts[x].items()} for x in parts if R[x] > 0}
        for j, R in enumerate(laws)
    )
    each = [(j, x, *way) for j, ways in enumerate(takes) for x in ways for way in ways[x].items()]
    rows = [[0 * a for _ in used] for _ in laws]
    for j, x, place, part in each:
        rows[j][place] += laws[j][x] * part
    mass = included(list(map(tuple, rows)))
    caps = tuple([a / K * EDGES[c % len(EDGES)] * m for c, m in zip(used, mass, strict=True)])
    found, left = optimal.optimal(caps, tuple(map(tuple, rows))), list(t)
    for j, x, place, part in each:
        left[x] -= laws[j][x] * part / mass[place] * (caps[place] - found.left[place])
    return Plan(found, takes, tuple(left))


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Node by node."""
    return descend(oracle, draft, target, in_classes)


def verify_lifted(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """From leaf to root."""
    return lifted(oracle, draft, target, in_classes)
