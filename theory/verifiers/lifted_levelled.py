"""Two siblings kept as often as any rule can, lifted; other numbers of siblings by the priority rule.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.stratified import Stratified
>>> emission(scenario("toy", Stratified((((), ()), ())), 3), VERIFIER).expected_accepted
11/10
"""

from dataclasses import dataclass
from typing import Any

from draftproof.theory.rows import Number, Row, add, minimum, positive, possible, share
from draftproof.theory.shared.memo import remembered
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.lifted_priority import lifted
from draftproof.theory.verifiers.shared import priority


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The lift of `levelled`."""
    return lifted(oracle, draft, target, planned)


@dataclass(frozen=True)
class Levelled:
    """`first[x][y]`: the chance that the first sibling is kept where the siblings are x and y; `second[y]`:
    that the second is, given that the first is not. `left`: what the kept ones leave of t.
    """

    first: dict[int, dict[int, Number]]
    second: dict[int, Number]
    left: Row

    def shares(self, node: Node) -> list[Any]:
        """The probability with which each drafted child is the one that is kept, in drawing order."""
        x, y = (child.token for child in node.children)
        kept = self.first[x][y]
        return [kept, (1 - kept) * self.second[y]]


def planned(draft: Draft, node: Node, t: Row) -> Any:
    """The plan of a drafted node."""
    laws = draft.laws(node)
    return levelled(t, *laws) if len(laws) == 2 else priority.planned(draft, node, t)


@remembered(4096)
def levelled(t: Row, R: Row, other: Row) -> Levelled:
    """A flow from pairs (x, y), x drawn from R and y from `other`, to their tokens.

    Either sibling is to be kept with `rate[x]`, min(1, t / (R + other)) of its token, on average over the
    other's. What the first takes is missing to y only beyond the slack 1 - rate[y], so each x takes most
    where most slack is left, which levels it: Gale's greedy for matrices with given sums (gale1957theorem).

    >>> from draftproof.theory.numbers import exact
    >>> from draftproof.theory.rows import total
    >>> third, even = exact("1/3"), (exact("1/3"),) * 3
    >>> laws = (2 * third, third, 0 * third), (0 * third, third, 2 * third)
    >>> total(levelled(even, *laws).left), total(priority.token_by_token(even, laws).left)
    (0, 1/9)
    """
    rate = [share(part, both) for part, both in zip(t, add(R, other), strict=True)]
    slack = {y: 1 - rate[y] for y, mass in enumerate(other) if possible(mass)}
    first, left = {}, list(t)
    for x, mass in enumerate(R):
        if possible(mass):
            first[x] = levels(slack, other, mass, rate[x])
            slack = {y: rest - mass * first[x][y] for y, rest in slack.items()}
            left[x] = positive(left[x] - mass * rate[x])
    second = {}
    for y, rest in slack.items():
        unkept = rate[y] + rest  # how often the first sibling is not kept beside y
        second[y] = share(rate[y], unkept)
        left[y] = positive(left[y] - other[y] * minimum(rate[y], unkept))
    return Levelled(first, second, tuple(left))


def levels(slack: dict[int, Any], weight: Row, most: Number, need: Number) -> dict[int, Number]:
    """min(1, (slack - level)+ / most) with the level at which their mean, by weight, is `need`.

    >>> from draftproof.theory.numbers import exact
    >>> half, slack = exact("1/2"), {0: exact("1/2"), 1: exact(0)}
    >>> levels(slack, (half, half), half, half), levels(slack, (half, half), 2 * half, half)
    ({0: 1, 1: 0}, {0: 3/4, 1: 1/4})
    """
    zero = most * 0

    def at(level: Any) -> dict[int, Any]:
        return {y: minimum(zero + 1, positive(rest - level) / most) for y, rest in slack.items()}

    def mean(found: dict[int, Any]) -> Any:
        return sum((weight[y] * part for y, part in found.items()), zero)

    low = min(slack.values()) - most
    for high in sorted(end for rest in slack.values() for end in (rest, rest - most)):
        if mean(at(high)) < need:
            break
        low = high
    else:
        return at(low)
    over, under = mean(at(low)), mean(at(high))
    return at(low + (high - low) * share(positive(over - need), over - under))


VERIFIER = Verifier(
    "lifted-levelled",
    "draftproof, docs/near-optimal.md: two siblings at their optimum",
    (*CHAIN, "tree with replacement", "stratified"),
    lossless=True,
    verify=verify,
    ordered=True,
)
