"""Layered transport: the whole level of a drafted tree is judged together, deepest level first.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> emission(scenario("toy", Tree((((),), ((),))), 3), VERIFIER).expected_accepted
801/500
"""

from collections.abc import Iterator
from math import prod
from typing import TypeAlias

from draftproof.theory.rows import Number, Row, normalise, one, possible, scale, share, total
from draftproof.theory.transport.level import carriers, plan
from draftproof.theory.transport.siblings import SiblingLaw, law_below, siblings
from draftproof.theory.verifier import CHAIN, PATHS, TREES, Draft, Node, Oracle, Rows, Stop, Verifier

TOGETHER, LAST = 16, 128
"""Most joint outcomes of nodes that are planned together, in general and where all children are
leaves; other nodes take turns."""

SEGMENTS = 8
"""Pieces of the concave value that a plan gives to the rate of a child that has children."""

Frontier: TypeAlias = list[tuple[Node, Row]]


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Downwards: every drafted node v gets a row e(v), what verification is to emit just below v;
    its mass is the probability of a stop at or below v, given the draft down to v's level.
    e(root) = p(.|root). A level's rows are carried to the children by a plan made for all that the
    level could have drawn; what it leaves of e(v) is v's residual. A child x that gets mass w has
    e(x) = w p(.|x).

    Upwards: from the deepest level on, stop at v with its residual's mass over what is left of 1.
    """
    frontier: Frontier = [(draft.root, target[draft.root.prefix])]
    levels = []
    while frontier:
        left, stops, frontier = descend(draft, frontier, target)
        levels.append((left, stops))
    for left, stops in reversed(levels):
        for node, mass, row in stops:
            if node is draft.root or oracle.accept(share(mass, left)):
                return node, row
            left = left - mass
    raise AssertionError("the residual of the root is all that is left")


def descend(
    draft: Draft, frontier: Frontier, target: Rows
) -> tuple[Number, list[tuple[Node, Number, Row]], Frontier]:
    """One level down: (1 - A, stops, the children's frontier), A the mean mass given to children.

    A stop is (v, mass of v's residual, the row of Y). Nodes that are not planned together take
    turns: the later ones share what the earlier left, L = E[left].
    """
    left = L = one(target[draft.root.prefix])
    stops, below = [], []
    for v, e in frontier:
        if not v.children:
            stops.append((v, total(e), target[v.prefix]))
    for nodes, laws in together(draft, frontier):
        segments = SEGMENTS if any(any(v.shape) for v, _ in nodes) else 1  # leaves are all alike
        planned = plan(tuple([e for _, e in nodes]), laws, L, segments)
        given = planned.rate[tuple(siblings(v) for v, _ in nodes)]
        for i, ((v, _), residual) in enumerate(zip(nodes, planned.left, strict=True)):
            stops.append((v, total(residual), normalise(residual)))
            for child, w in shared(v, {x: mass for (j, x), mass in given.items() if j == i}):
                below.append((child, scale(left * w, target[child.prefix])))
        left = left - left * sum(given.values(), L * 0)
        L = L - planned.accepted
    return L, stops, below


def together(draft: Draft, frontier: Frontier) -> Iterator[tuple[Frontier, tuple[SiblingLaw, ...]]]:
    """The level's nodes that have children, in groups small enough to plan, with their draws' laws."""
    nodes: Frontier = []
    laws: tuple[SiblingLaw, ...] = ()
    for v, e in frontier:
        if v.children:
            law = law_below(draft, v)
            last = not any(any(u.shape) for u, _ in [*nodes, (v, e)])
            if nodes and prod(map(len, [*laws, law])) > (LAST if last else TOGETHER):
                yield nodes, laws
                nodes, laws = [], ()
            nodes, laws = [*nodes, (v, e)], (*laws, law)
    if nodes:
        yield nodes, laws


def shared(v: Node, given: dict[int, Number]) -> Iterator[tuple[Node, Number]]:
    """The drafted copies that carry each token's mass, alike."""
    drawn = siblings(v)
    for x, mass in given.items():
        shapes = carriers(drawn, x)
        if possible(mass):
            for child in v.children:
                if child.token == x and child.shape in shapes:
                    yield child, mass / len(shapes)


VERIFIER = Verifier(
    "layered",
    "draftproof, docs/findings.md",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    ordered=True,
)
