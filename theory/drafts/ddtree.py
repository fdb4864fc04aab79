"""The tree of the likeliest prefixes under the proposal; nothing is drawn at random."""

from dataclasses import dataclass
from typing import ClassVar

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.shape import Grown
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Number, Prefix, likeliest, one
from draftproof.theory.table import Rows


@dataclass(frozen=True)
class DDTree(Grown):
    """The `nodes` likeliest prefixes of q of at most `depth` tokens, the drafts of DDTree (ringel2026ddtree).

    DDTree's drafter has one row for each depth, and a prefix has the product of its tokens' probabilities;
    here q may depend on the path. Of equally likely prefixes the shorter goes first, then the one of smaller
    token ids. No prefix of probability zero is drafted. Nothing is drawn, so that only rules that do not use
    p/q are valid, as on `top-k`.

    >>> from draftproof.theory.table import Table
    >>> q = Table.exact(2, {(): ["3/4", "1/4"]})
    >>> DDTree(3, depth=2).draw(None, q).root
    Node((), [Node((0,), [Node((0, 0), [])]), Node((1,), [])])
    """

    kind: ClassVar[str] = "ddtree"
    label = "top-k"

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        below: dict[Prefix, list[Prefix]] = {}  # prefix -> its children, likeliest first
        open_: dict[Prefix, Number] = {context: one(proposal[context])}
        while open_ and len(below) <= self.nodes:
            best = min(open_, key=lambda prefix: (-open_[prefix], len(prefix), prefix))
            reach = open_.pop(best)
            if below:
                below[best[:-1]].append(best)
            below[best] = []
            if len(best) - len(context) < self.depth:
                q = proposal[best]
                open_ |= {(*best, x): reach * q[x] for x in likeliest(q, self.nodes)}

        def built(prefix: Prefix) -> Node:
            q = proposal[prefix] if below[prefix] else None
            return Node(prefix, q, tuple(map(built, below[prefix])))

        return Draft(built(context))

    def outcomes(self, support: int) -> int:
        return 1


SCHEME = DDTree
