"""A tree of N tokens that grows below the node most likely to be accepted."""

from dataclasses import dataclass
from typing import ClassVar

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.shape import Grown
from draftproof.theory.drafts.stratified import from_strata
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Prefix, Row, one, supported
from draftproof.theory.strata import inclusion
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class BestFirst(Grown):
    """Stratified siblings, `nodes` tokens in all, none deeper than `depth` (docs/near-optimal.md).

    The growth is best first, as in DDTree, which orders nodes by products of q. A node's *reach* is the
    product, along its path, of `accepted` over pi: the probability that a drafted token is kept. Of the nodes
    without children the one of largest reach (the earliest of equals) gets its children next. Their number is
    the largest for which the last child adds at least what a token is worth elsewhere: the sum of the reaches
    of all such nodes, divided by the number of tokens left.

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
            value = sum(leaves.values()) / left
            reach, q = leaves.pop(v), proposal[prefixes[v]]
            tokens = from_strata(oracle, q, worthwhile(q, reach, value, left))
            below[v] = list(range(len(prefixes), len(prefixes) + len(tokens)))
            prefixes += [(*prefixes[v], x) for x in tokens]
            left -= len(tokens)
            if len(prefixes[-1]) - len(context) < self.depth:
                kept, pi = accepted(q, len(tokens)), inclusion(q, len(tokens))
                leaves |= {i: reach * kept[x] / pi[x] for i, x in zip(below[v], tokens, strict=True)}

        def built(v: int) -> Node:
            q = proposal[prefixes[v]] if v in below else None
            return Node(prefixes[v], q, tuple(map(built, below.get(v, ()))))

        return Draft(built(0), stratified=True)

    def outcomes(self, support: int) -> int:
        return support**self.nodes


def accepted(q: Row, count: int) -> Row:
    """The expected mass of each token that `count` siblings accept, q (1 - (q / (q + pi))^2).

    That is the mean of min(p, pi) where p / q has the law P(p / q > r) = 2 / (1 + r)^3, of mean 1: one
    sibling keeps 3/4, two of a flat row 8/9. Only growth uses it: whatever p is, verification is lossless.

    >>> from draftproof.theory.numbers import exact
    >>> accepted((exact("1/2"), exact("1/2")), 1), accepted((exact("1/2"), exact("1/2")), 2)
    ((3/8, 3/8), (4/9, 4/9))
    """
    pi = inclusion(q, count)
    return tuple([x * (1 - (x / (x + part)) ** 2) if x > 0 else x for x, part in zip(q, pi, strict=True)])


def worthwhile(q: Row, reach: Number, value: Number, most: int) -> int:
    """The most siblings of which the last adds at least `value` / `reach` to what the node accepts."""
    count, kept = 1, sum(accepted(q, 1))
    while count < min(most, supported(q)):
        more = sum(accepted(q, count + 1))
        if reach * (more - kept) < value:
            break
        count, kept = count + 1, more
    return count


SCHEME = BestFirst
