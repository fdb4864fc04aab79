"""The priority rule with split tokens, lifted: at a node with i.i.d. siblings it reaches alpha*.

>>> from draftproof.simulators.laws.enumerate import emission
>>> from draftproof.simulators.instances.scenarios import scenario
>>> from draftproof.theory.drafts.tree import Tree
>>> round(float(emission(scenario("toy", Tree(((), ()), True), 3), VERIFIER).expected_accepted), 9)
0.76
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from draftproof.theory.rows import Number, Row, one, possible, ratio
from draftproof.theory.shared.memo import remembered
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Rows, Stop, Verifier
from draftproof.theory.verifiers.lifted_priority import lifted

STEPS = 40
"""Steps that look for the place of a token: what a node accepts is alpha* to 2^-STEPS a token."""


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The lift of `split`."""
    return lifted(oracle, draft, target, planned)


@dataclass(frozen=True)
class Split:
    """`judged`: (token, rate, kept) in order; a token may stand there more than once. If a sibling is chosen
    at an entry where `kept` is false, no sibling is kept. `left`: what the kept ones leave of t.
    """

    judged: tuple[tuple[int, Number, bool], ...]
    left: Row

    def shares(self, node: Node) -> list[Any]:
        """The probability with which each drafted child is the one that is kept, in drawing order."""
        unkept: list[Any] = [one(self.left) for _ in node.children]
        kept: list[Any] = [0 * chance for chance in unkept]
        for x, rate, keeps in self.judged:
            for j, child in enumerate(node.children):
                if child.token == x:
                    if keeps:
                        kept[j] = kept[j] + prod(unkept) * rate
                    unkept[j] = unkept[j] * (1 - rate)
        return kept


def planned(draft: Draft, node: Node, t: Row) -> Split:
    """The plan of a drafted node, its siblings i.i.d."""
    return split(t, node.proposal, len(node.shape))


@remembered(4096)
def split(t: Row, q: Row, count: int) -> Split:
    """Tokens lie on a line of length 1, x on parts of total length q(x). A sibling that is x gets a uniform
    place on the parts of x, and the leftmost sibling is kept: the part [a, b] is kept with probability
    f(b) - f(a), f(z) = 1 - (1 - z)^count. Tokens are placed in the order of t / q, the largest first, each on
    the free parts of the line as far left as t(x) allows; some of it may lie beyond the end. At last what
    lies beyond the end fills the gaps: if the leftmost sibling has its place in such a gap, none is kept.

    >>> from draftproof.theory.numbers import exact
    >>> from draftproof.theory.rows import total
    >>> p, q = (exact(0), exact("1/5"), exact("4/5")), (exact("1/5"), exact("1/5"), exact("3/5"))
    >>> 1 - total(split(p, q, 2).left)
    24/25
    """
    zero, unit = one(q) * 0, one(q)
    left, free, line, rest = list(t), [(zero, unit)], [], list(q)

    def mass(found: Sequence[tuple[Any, Any]]) -> Any:
        return sum(((1 - a) ** count - (1 - b) ** count for a, b in found), zero)

    drafted = [x for x, chance in enumerate(q) if possible(chance)]
    for x in sorted(drafted, key=lambda x: ratio(t[x], q[x]), reverse=True):
        end = sum((b - a for a, b in free), zero)
        taken = window(
            free, _leftmost(lambda s, x=x, free=free: mass(window(free, s, q[x])) - t[x], end), q[x]
        )
        free = without(free, taken)
        left[x] = left[x] - mass(taken)
        rest[x] = rest[x] - sum((b - a for a, b in taken), zero)
        line += [(a, b, x, True) for a, b in taken]
    for x in drafted:
        taken = window(free, zero, rest[x])
        free = without(free, taken)
        line += [(a, b, x, False) for a, b in taken]
    judged, rest = [], list(q)
    for a, b, x, keeps in sorted(line):
        judged.append((x, (b - a) / rest[x], keeps))
        rest[x] = rest[x] - (b - a)
    return Split(tuple(judged), tuple(left))


def window(free: Sequence[tuple[Any, Any]], start: Any, length: Any) -> list[tuple[Any, Any]]:
    """The stretch from `start` to `start + length` along the free parts, which are joined end to end."""
    found, at = [], 0
    for a, b in free:
        begin, stop = a + max(start - at, 0), min(a + start + length - at, b)
        at = at + (b - a)
        if begin < stop:
            found.append((begin, stop))
    return found


def without(free: Sequence[tuple[Any, Any]], taken: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The free parts without the taken ones, which lie within them."""
    out = []
    for a, b in free:
        for begin, stop in taken:
            if a <= begin and stop <= b:
                out.append((a, begin))
                a = stop
        out.append((a, b))
    return [(a, b) for a, b in out if a < b]


def _leftmost(excess: Any, end: Any) -> Any:
    # The smallest s in [0, end] with excess(s) <= 0, excess falling: exact where it is linear between two of
    # the bounds that are tried, else at most end / 2^STEPS too large.
    low, high = 0 * end, end
    above, below = excess(low), excess(high)
    if not above > 0:
        return low
    for _ in range(STEPS):
        linear = low + (high - low) * above / (above - below)
        if excess(linear) == 0:
            return linear
        middle = (low + high) / 2
        value = excess(middle)
        if value > 0:
            low, above = middle, value
        else:
            high, below = middle, value
    return high


VERIFIER = Verifier(
    "lifted-split",
    "draftproof, docs/near-optimal.md: the priority rule with split tokens",
    (*CHAIN, "tree with replacement"),
    lossless=True,
    verify=verify,
    ordered=True,
)
