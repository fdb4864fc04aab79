"""Layered transport: the whole level of a drafted tree is judged together, deepest level first."""

from collections.abc import Iterator

from theory.draft import Draft, Node
from theory.oracle import Oracle
from theory.rows import Number, Row, normalise, one, possible, scale, share, total
from theory.table import Rows
from theory.transport.level import Brood, brood, broods, outcomes, plan
from theory.verifier import CHAIN, PATHS, TREES, Stop, Verifier

TOGETHER = 128
"""Most joint outcomes of the draws below nodes that are planned together; others follow in turn."""

ROUNDS = 8
"""Steps in which a plan spreads mass over the outcomes before it fills them."""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """Downwards, every drafted node v gets its mass m(v), the probability that verification stops
    at or below v given the draft down to v's level; m(root) = 1. The rows m(v) p(.|v) of one level
    are carried to the children by a plan of the largest mass over all that the level could have
    drawn; what the plan leaves of m(v) p(.|v) is v's residual.

    Upwards, from the deepest level: stop at v with its residual's mass over what is left of 1.
    """
    frontier = [(draft.root, one(target[draft.root.prefix]))]
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
    draft: Draft, frontier: list[tuple[Node, Number]], target: Rows
) -> tuple[Number, list[tuple[Node, Number, Row]], list[tuple[Node, Number]]]:
    """One level down: (1 - A, stops, the children that got mass), A the mean mass given to children.

    A stop is (v, mass of v's residual, the row of Y). Nodes that are not planned together take
    turns: the later ones share what the earlier left, L = E[left].
    """
    left = L = one(target[draft.root.prefix])
    stops, below = [], []
    for nodes, laws in together(draft, frontier):
        rows = [scale(m, target[v.prefix]) for v, m in nodes]
        planned = plan(rows, laws, L, ROUNDS)
        given = planned.share[tuple(brood(draft, v) for v, _ in nodes)]
        for i, (v, _) in enumerate(nodes):
            residual = planned.kept(i, rows[i])
            stops.append((v, total(residual), normalise(residual)))
            below += shared(v, {x: left * mass for (j, x), mass in given.items() if j == i})
        left = left - left * sum(given.values(), L * 0)
        L = L - planned.most
    stops += [(v, m, target[v.prefix]) for v, m in frontier if not v.children]
    return L, stops, below


def together(
    draft: Draft, frontier: list[tuple[Node, Number]]
) -> Iterator[tuple[list[tuple[Node, Number]], list[dict[Brood, Number]]]]:
    """The level's nodes that have children, in groups small enough to plan, with their draws' laws."""
    nodes: list[tuple[Node, Number]] = []
    laws: list[dict[Brood, Number]] = []
    for v, m in frontier:
        if v.children:
            law = broods(draft, v)
            if nodes and outcomes([*laws, law]) > TOGETHER:
                yield nodes, laws
                nodes, laws = [], []
            nodes, laws = [*nodes, (v, m)], [*laws, law]
    if nodes:
        yield nodes, laws


def shared(v: Node, given: dict[int, Number]) -> Iterator[tuple[Node, Number]]:
    """Each token's mass on its drafted copies alike, on those that have children where there are any."""
    for x, mass in given.items():
        copies = [child for child in v.children if child.token == x]
        copies = [child for child in copies if child.children] or copies
        if possible(mass):
            yield from ((child, mass / len(copies)) for child in copies)


VERIFIER = Verifier(
    "layered",
    "this project, docs/optimality.md",
    (*CHAIN, *TREES, *PATHS),
    lossless=True,
    verify=verify,
    ordered=True,
)
