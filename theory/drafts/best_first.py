"""A tree of N tokens that grows below the node most likely to be accepted."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.shape import Grown
from draftproof.theory.drafts.stratified import from_strata
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Prefix, Row, likeliest, minimum, one, supported
from draftproof.theory.shared.strata import inclusion, strata
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class BestFirst(Grown):
    """Stratified siblings, `nodes` tokens in all, none deeper than `depth` (docs/near-optimal.md).

    The growth is best first, as in DDTree, which orders nodes by products of q. A node's *reach* is the
    product, along its path, of what is `accepted`. Of the nodes without children the one of largest reach
    (the earliest of equals) gets its children next. Their number is the largest for which the last child adds
    at least what a token is worth elsewhere: twice the sum of the reaches of all such nodes, divided by the
    number of tokens left.

    A node's number of children depends on earlier draws alone, and is fixed before its first child is drawn.
    So a verifier that is lossless on every fixed shape is lossless here: given all earlier draws, the
    children drawn last are ordinary strata below a leaf, and the verifier emits the same law with them as
    without them; they can be removed, then the children drawn before them, and so on back to the root.

    >>> BestFirst(4, depth=2).outcomes(support=2)
    16
    """

    kind: ClassVar[str] = "best-first"
    label = "stratified"

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        below: dict[int, list[int]] = {}  # node -> its children; numbered as drawn
        prefixes, left = [context], self.nodes
        leaves: dict[int, Number] = {0: one(proposal[context])}
        while left and leaves:
            v = max(leaves, key=lambda leaf: leaves[leaf])
            value = 2 * sum(leaves.values()) / left
            reach, q, depth = leaves.pop(v), proposal[prefixes[v]], len(prefixes[v]) - len(context)
            unsure = doubt(q, depth)
            tokens = from_strata(oracle, q, worthwhile(q, unsure, reach, value, left))
            below[v] = list(range(len(prefixes), len(prefixes) + len(tokens)))
            prefixes += [(*prefixes[v], x) for x in tokens]
            left -= len(tokens)
            if depth + 1 < self.depth:
                kept = accepted(q, unsure, len(tokens))
                leaves |= {i: reach * share for i, share in zip(below[v], kept, strict=True)}

        def built(v: int) -> Node:
            q = proposal[prefixes[v]] if v in below else None
            return Node(prefixes[v], q, tuple(map(built, below.get(v, ()))))

        return Draft(built(0), stratified=True, grown=True)

    def outcomes(self, support: int) -> int:
        return support**self.nodes


def accepted(q: Row, unsure: Number, count: int) -> list[Number]:
    """The probability with which each of `count` siblings is expected to be the accepted one.

    On average over contexts K siblings accept about 1 - 1 / (1 + K + K^2), hardly depending on q; here less
    is missing, by the factor `unsure` (`doubt`). That is divided by the masses that the strata have of q,
    each increased by a quarter, since drafters are too sure of themselves. Only growth uses it: whatever p
    is, verification is lossless.

    >>> from draftproof.theory.numbers import exact
    >>> q, unsure = (exact("1/2"), exact("1/2")), exact("1")
    >>> accepted(q, unsure, 1), accepted(q, unsure, 2)
    ([2/3], [3/7, 3/7])
    """
    rows, pi = np.array(strata(q, count)), np.array(inclusion(q, count))  # of rationals, or of floats
    drafted = pi > 0
    sizes = (rows[:, drafted] * (np.array(q)[drafted] / pi[drafted])).sum(axis=1)
    whole = (1 - unsure / _steps(len(rows))) / (1 + len(rows) * unsure / 4)
    return [whole * (size + unsure / 4) for size in sizes]


def worthwhile(q: Row, unsure: Number, reach: Number, value: Number, most: int) -> int:
    """The most siblings of which the last adds at least `value` / `reach` to what the node accepts."""
    count = 1
    while count < min(most, supported(q)):
        if reach * (unsure / _steps(count) - unsure / _steps(count + 1)) < value:
            break
        count += 1
    return count


def doubt(q: Row, depth: int) -> Number:
    """How much of the usual refusal to expect at a node of this depth: 1, and less, down to 1/2, where one
    token has more than 19/20 of q, times 4 / (4 + depth).

    The second factor is that of the mean rate of refusal, after `depth` acceptances, under a Beta prior of
    weight 4: a text whose tokens were accepted is easier than most.

    >>> from draftproof.theory.numbers import exact
    >>> doubt((exact("1/2"), exact("1/2")), 0), doubt((exact("1"), exact("0")), 4)
    (1, 1/4)
    """
    return minimum(one(q), one(q) / 2 + 10 * (1 - q[likeliest(q, 1)[0]])) * 4 / (4 + depth)


def _steps(count: int) -> int:
    return 1 + count + count**2


SCHEME = BestFirst
