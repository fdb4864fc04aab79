"""The optimum of a node: the drafted tokens are judged in an order that is drawn from a few.

Siblings are drawn independently, sibling j from the row R_j; t is the row to be emitted, p or, inside a
lift, a p. In an order of the tokens, the first one that is drafted *leads*. Some token of a set X is drafted
with probability g(X) = 1 - prod_j (1 - R_j(X)), so a rule that keeps no more than t(x) of any token x keeps
at most g(X) + t(off X). The plan reaches the least of these bounds, which is alpha*.

How often each token leads, in some law of orders: these vectors are the base polytope of g
(edmonds1970submodular). The one that is nearest to t keeps most (fujishige1980lexicographically) and is found
as in wolfe1976finding, order by order; every new order puts those tokens first that lead too seldom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any, TypeAlias

from flint import fmpq

from draftproof.theory.draft import Draft, Node
from draftproof.theory.rows import Row, add, excess, meet, one, positive, possible, scale, share, total
from draftproof.theory.shared.memo import remembered
from draftproof.theory.transport.level import carriers, worth
from draftproof.theory.transport.siblings import siblings
from draftproof.theory.verifiers.shared import priority
from draftproof.theory.verifiers.shared.priority import included

Order: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """`chances[order]`: how likely each order of the tokens is. `rate[x]`: the chance that x is kept where it
    leads. `left`: what the kept ones leave of t.
    """

    chances: dict[Order, Any]
    rate: Row
    left: Row

    def shares(self, node: Node) -> list[tuple[Node, Any]]:
        """The drafted children in drawing order, with the probability that each is the one that is kept.

        Of the copies of a token those with the most below them share alike.
        """
        drawn = siblings(node)
        kept = {x: one(self.left) * 0 for x, _ in drawn}
        for order, chance in self.chances.items():
            x = next(x for x in order if x in kept)
            kept[x] = kept[x] + chance * self.rate[x]
        heirs = {x: carriers(drawn, x) for x in kept}
        parts = {x: (mass / len(heirs[x]), 0 * mass) for x, mass in kept.items()}
        return [(each, parts[each.token][each.shape not in heirs[each.token]]) for each in node.children]


def planned(draft: Draft, node: Node, t: Row) -> Plan:
    """The plan of a drafted node."""
    return optimal(t, draft.laws(node))


def planned_in_lift(draft: Draft, node: Node, t: Row) -> Plan | priority.Plan:
    """The plan of a drafted node in a lift."""
    return (priority.planned if take_turns(draft, node) else planned)(draft, node, t)


def take_turns(draft: Draft, node: Node) -> bool:
    """Whether a lift accepts more if it keeps earlier siblings first: i.i.d. ones that have more below them,
    which the optimum would keep alike, and those of a draft that grows, which are likely to. It is known
    before anything is drawn.
    """
    return draft.grown or (draft.replacement and ranked(node.shape))


def ranked(shape: tuple) -> bool:
    """Whether no child has more below it than an earlier one, and some child less."""
    worths = list(map(worth, shape))
    return worths == sorted(worths, reverse=True) and len(set(worths)) > 1


@remembered(4096)
def optimal(t: Row, laws: tuple[Row, ...]) -> Plan:
    """The plan that keeps most: begun with one order, and done when a set X proves that no rule keeps more.

    >>> from draftproof.theory.numbers import exact
    >>> third, even = exact("1/3"), (exact("1/3"),) * 3
    >>> found = optimal(even, ((2 * third, third, 0 * third), (0 * third, third, 2 * third)))
    >>> found.chances, found.left
    ({(0, 1, 2): 1/2, (2, 1, 0): 1/2}, (0, 0, 0))
    """
    if isinstance(t[0], float):  # planned as the rationals that they are
        found = optimal(rational(t), tuple(map(rational, laws)))
        chances = {order: float(chance) for order, chance in found.chances.items()}
        return Plan(chances, tuple(map(float, found.rate)), tuple(map(float, found.left)))
    pi = included(laws)
    tokens = [x for x, mass in enumerate(pi) if possible(mass)]

    def lacking(lead: Row) -> Order:
        return tuple(sorted(tokens, key=lambda x: (t[x] - lead[x]) / pi[x], reverse=True))

    order = lacking(scale(0 * one(t), t))
    rows, chances = {order: leads(order, laws)}, {order: one(t)}
    while True:
        lead = mean(chances, rows)
        order = lacking(lead)
        rows[order] = leads(order, laws)
        bounds = accumulate((rows[order][x] - t[x] for x in order), initial=sum(t[x] for x in tokens))
        if min(bounds) <= total(meet(t, lead)):  # X is what stands first in the order, up to some token
            return Plan(chances, tuple(map(share, t, lead)), excess(t, lead))
        chances = nearest({**chances, order: 0 * one(t)}, rows, t, pi)


def rational(row: Row) -> Row:
    """The exact numbers that a row of floats holds."""
    return tuple([fmpq(*mass.as_integer_ratio()) for mass in row])


def leads(order: Order, laws: Sequence[Row]) -> Row:
    """How often each token leads in an order."""
    lead = list(scale(0 * one(laws[0]), laws[0]))
    rest, none = [one(R) for R in laws], one(laws[0])
    for x in order:
        rest = [positive(mass - R[x]) for mass, R in zip(rest, laws, strict=True)]
        before, none = none, prod(rest[1:], start=rest[0])
        lead[x] = before - none
    return tuple(lead)


def mean(chances: dict[Order, Any], rows: dict[Order, Row]) -> Row:
    """How often each token leads in an order drawn by its chance."""
    first, *others = (scale(chance, rows[order]) for order, chance in chances.items())
    for row in others:
        first = add(first, row)
    return first


def nearest(chances: dict[Order, Any], rows: dict[Order, Row], t: Row, pi: Row) -> dict[Order, Any]:
    """The chances of these orders whose mean is nearest to t. Orders that would need a chance below 0 go."""
    while True:
        want = balance([add(rows[order], scale(-one(t), t)) for order in chances], pi)
        below = [have / (have - part) for have, part in zip(chances.values(), want, strict=True) if part < 0]
        step = min(below, default=one(t))
        pairs = zip(chances.items(), want, strict=True)
        moved = {order: have + step * (part - have) for (order, have), part in pairs}
        chances = {order: chance for order, chance in moved.items() if chance > 0}
        if not below:
            return chances


def balance(rows: Sequence[Row], pi: Row) -> list[Any]:
    """The weights, of sum 1, with which the mean of the rows is nearest to 0, each token's square over pi."""
    first, *others = rows
    edges = [add(row, scale(-one(row), first)) for row in others]

    def product(u: Row, v: Row) -> Any:
        return sum(a * b / weight for a, b, weight in zip(u, v, pi, strict=True) if possible(weight))

    system = [[*(product(u, v) for v in edges), -product(u, first)] for u in edges]
    for i, pivot in enumerate(system):  # positive definite: the edges are independent
        pivot[:] = [entry / pivot[i] for entry in pivot]
        for row in system:
            if row is not pivot:
                row[:] = [entry - row[i] * other for entry, other in zip(row, pivot, strict=True)]
    weights = [row[-1] for row in system]
    return [one(first) - sum(weights), *weights]
