"""Drafts whose subtrees are drawn when a verifier first looks at them.

What is drawn below a node depends on nothing but the proposal, so it may be drawn as late as one
likes: the joint law of draft and verdict is the same, and subtrees that nobody looks at cost a
proof nothing. Children of one node are always drawn together, by the scheme's own rule.
"""

from collections.abc import Sequence

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts import Scheme
from draftproof.theory.drafts.shape import Shape
from draftproof.theory.drafts.tree import Tree, with_replacement, without_replacement
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Rows


class Deferred(Node):
    """A node that draws its children at the first look."""

    __slots__ = ("_drawn", "_oracle", "_scheme", "_shape", "_table")

    def __init__(self, oracle: Oracle, scheme: Tree, table: Rows, prefix: Prefix, shape: Shape):
        self.prefix: Prefix = prefix
        self._oracle, self._scheme, self._table, self._shape = oracle, scheme, table, shape
        self._drawn: tuple[Node, ...] | None = None

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        return self._shape

    @property
    def proposal(self) -> Row:  # type: ignore[override]
        return self._table[self.prefix] if self._shape else None  # type: ignore[return-value]

    @property
    def children(self) -> tuple[Node, ...]:  # type: ignore[override]
        if self._drawn is None:
            tokens: Sequence[int] = ()
            if self._shape:
                siblings = with_replacement if self._scheme.replacement else without_replacement
                tokens = siblings(self._oracle, self.proposal, len(self._shape))
            self._drawn = tuple(
                Deferred(self._oracle, self._scheme, self._table, (*self.prefix, x), below)
                for x, below in zip(tokens, self._shape, strict=False)
            )
        return self._drawn


def draw(scheme: Scheme, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
    """The scheme's draft; of a tree, with subtrees deferred.

    >>> from draftproof.simulators.enumerate import outcomes
    >>> from draftproof.theory.table import Table
    >>> coin = Table.exact(2, {(): ["1/4", "3/4"]})
    >>> pair = Tree((((),), ((),)), replacement=True)
    >>> [weight for weight, _ in outcomes(lambda oracle: draw(pair, oracle, coin).root.children)]
    [1/16, 3/16, 3/16, 9/16]
    """
    if isinstance(scheme, Tree):
        root = Deferred(oracle, scheme, proposal, context, scheme.shape)
        return Draft(root, replacement=scheme.replacement)
    return scheme.draw(oracle, proposal, context)
