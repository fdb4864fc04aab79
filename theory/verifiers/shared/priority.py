"""The priority rule at one node: drafted tokens are judged in an order that is fixed before they are drawn.

Siblings are drawn independently, sibling j from the row R_j; t is the row to be emitted, p or, inside a
lift, a p. The tokens drafted too seldom, with a large t / sum_j R_j, are judged first and kept whenever they
are drafted. Siblings and coins are independent, so that the pair (x, j) is kept with
probability R_j(x) reach rate exactly, reach being the chance that no other sibling was kept before. This
holds for any order, and where tokens share a class.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from draftproof.theory.draft import Draft, Node
from draftproof.theory.rows import Number, Row, add, minimum, one, possible, ratio, share
from draftproof.theory.shared.memo import remembered


@dataclass(frozen=True)
class Plan:
    """`rate[x, j]` is the chance that token x is kept when sibling j is x and is judged, for the pairs in the
    order in which they are judged. `left` is what the kept ones leave of t.
    """

    rate: dict[tuple[int, int], Number]
    left: Row

    def judged(self, node: Node) -> Iterator[tuple[Node, Number]]:
        """The drafted children in the order in which they are judged, each with its rate."""
        drawn = {(child.token, j): child for j, child in enumerate(node.children)}
        return ((drawn[pair], rate) for pair, rate in self.rate.items() if pair in drawn)

    def shares(self, node: Node) -> list[tuple[Node, Number]]:
        """The drafted children in drawing order, with the probability that each is the one that is kept."""
        unkept, kept = one(self.left), {}
        for child, rate in self.judged(node):
            kept[child] = unkept * rate
            unkept = unkept - kept[child]
        return [(child, kept[child]) for child in node.children]


def plan(t: Row, laws: Sequence[Row], classes: Sequence[Sequence[int]]) -> Plan:
    """Class by class, sibling by sibling: each token is kept as often as t has mass left for it.

    Two tokens of one class are judged at the same time: a sibling is only one of them.

    >>> from draftproof.theory.numbers import exact
    >>> p, q = (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3"))
    >>> plan(p, (q,), ((1,), (0,))) == plan(p, (q,), ((0, 1),)) == plan(p, (q,), ((0,), (1,)))
    True
    >>> found = plan(p, (q, q), ((1,), (0,)))
    >>> found.rate, found.left
    ({(1, 0): 1, (1, 1): 1, (0, 0): 3/4, (0, 1): 0}, (0, 1/9))
    """
    left, unkept = list(t), [one(t) for _ in laws]
    rate: dict[tuple[int, int], Number] = {}
    for tokens in classes:
        for j, R in enumerate(laws):
            reach = prod((chance for i, chance in enumerate(unkept) if i != j), start=one(t))
            for x in tokens:
                if possible(R[x]):
                    most = R[x] * reach
                    rate[x, j] = share(left[x], most)
                    left[x] = left[x] - minimum(left[x], most)
                    unkept[j] = unkept[j] - R[x] * rate[x, j]
    return Plan(rate, tuple(left))


@remembered(4096)
def token_by_token(t: Row, laws: tuple[Row, ...]) -> Plan:
    """The plan in which every token is a class of its own, the largest t / sum_j R_j first, ties by id."""
    pi = included(laws)
    drafted = [x for x, mass in enumerate(pi) if possible(mass)]
    return plan(t, laws, [(x,) for x in sorted(drafted, key=lambda x: ratio(t[x], pi[x]), reverse=True)])


def included(laws: Sequence[Row]) -> Row:
    """sum_j R_j: how many siblings are a token, on average."""
    pi = laws[0]
    for R in laws[1:]:
        pi = add(pi, R)
    return pi


def planned(draft: Draft, node: Node, t: Row) -> Plan:
    """The plan of a drafted node."""
    return token_by_token(t, draft.laws(node))
