"""Leaf shaping: which row follows a drafted word, after it was accepted whole and in all other ways.

docs/findings.md derives it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.shape import Shape, leaf_depths
from draftproof.theory.errors import BadInput
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import (
    Number,
    Prefix,
    Row,
    add,
    excess,
    meet,
    normalise,
    one,
    otherwise,
    positive,
    possible,
    scale,
    share,
    total,
    without,
)
from draftproof.theory.table import Rows
from draftproof.theory.verifiers.shared.modified_target import Over, Replaced


def extended(draft: Draft, proposal: Rows) -> Draft:
    """The draft with the proposal's rows at its leaves too, None where the proposal has no row."""
    for *_, leaf in draft.paths:
        leaf.proposal = row_of(proposal, leaf.prefix)  # type: ignore[assignment]
    return draft


def row_of(rows: Rows, prefix: Prefix) -> Row | None:
    """The row after a prefix, None if there is none."""
    try:
        return rows[prefix]
    except BadInput:
        return None


def shaped(k: Number, p: Row, q: Row | None) -> tuple[Row, Row]:
    """The rows after a drafted word of which the share k is emitted by a whole accepted draft: (the bonus row
    that follows it; the target's row for the other ways to come by the word).

    k bonus + (1 - k) later = p, and the later row is as near to q as that allows, so that the next call
    accepts more. Without a q, or with one that has no mass, both rows are p.

    >>> from draftproof.theory.numbers import exact
    >>> shaped(exact("1/2"), (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3")))
    ((0, 1), (2/3, 1/3))
    """
    if q is None:
        return p, p
    have = scale(1 - k, normalise(q))
    rest = excess(p, have)  # of mass k or more
    later = add(meet(p, have), scale(1 - share(k, total(rest)), rest))
    return normalise(otherwise(rest, p)), normalise(otherwise(later, p))


Ways: TypeAlias = Iterator[tuple[Number, Number, Shape]]
Rule: TypeAlias = Callable[[Number, Row, Row, int, Shape, bool], Ways]
"""rule(a, p, q, x, shape, replacement): of a node with the rows p and q that is entered at rate a, the ways
to draft a child x and go on there: (mass, the child's rate, its shape). At a leaf the rate is the probability
of keeping it.
"""


def in_turn(a: Number, p: Row, q: Row, x: int, shape: Shape, replacement: bool, lifted: bool) -> Ways:
    """Children are judged in drawing order by min(1, a p / q): on the way down (recursive rejection), or
    `lifted`, with all that is below them (traversal).
    """
    child, *rest = shape
    rate = share(a * p[x], q[x])
    if possible(q[x]):
        yield (q[x], rate, child) if lifted else (q[x] * rate, one(p), child)
    if not rest:
        return
    want = scale(a, p)
    residual = excess(want, q)
    left = total(residual)
    passed = [(1 - total(meet(want, q)), q)]
    if not replacement:
        passed = [(q[y] * (1 - share(want[y], q[y])), without(q, y)) for y in range(len(q)) if possible(q[y])]
    for mass, law in passed:
        if possible(mass):
            later = in_turn(
                share(left, left + (1 - a)), normalise(residual), law, x, tuple(rest), replacement, lifted
            )
            yield from ((mass * way, rate, below) for way, rate, below in later)


TRAVERSAL: Rule = partial(in_turn, lifted=True)
RECURSIVE: Rule = partial(in_turn, lifted=False)


class Shaped(Over):
    """The target for all that is no stop at a leaf of the block that starts at length `start`: after a word
    at which a leaf can be, the row is the later one of `shaped`. Layers stack as those of
    `draftproof.theory.verifiers.shared.modified_target.Modified` do.

    The share k of the word's probability is that of its drafted and kept leaves under this target; it depends
    on the rows along the word alone.
    """

    def __init__(
        self,
        target: Rows,
        proposal: Rows,
        start: int,
        shape: Shape,
        replacement: bool = True,
        rule: Rule = TRAVERSAL,
    ):
        super().__init__(target, id(proposal), start, shape, replacement, rule)
        self.proposal, self.start, self.shape = proposal, start, shape
        self._rule, self._replacement, self._depths = rule, replacement, leaf_depths(shape)
        self.end = start + max(self._depths)  # the length of the text at the deepest leaves
        self._rows: dict[Prefix, tuple[Row, Row]] = {}

    def __getitem__(self, prefix: Prefix) -> Row:
        if len(prefix) - self.start not in self._depths:
            return self.target[prefix]
        return self.at_leaf(prefix)[1]

    def at_leaf(self, prefix: Prefix) -> tuple[Row, Row]:
        """Both rows of `shaped` after a word at which a leaf can be."""
        if prefix not in self._rows:
            P = one(self.target[prefix])
            for i in range(self.start, len(prefix)):
                P = P * self.target[prefix[:i]][prefix[i]]
            kept = self._mass(P * 0 + 1, prefix, self.start, self.shape)
            k = share(positive(kept), P)  # floats can be below 0 by rounding
            self._rows[prefix] = shaped(k, self.target[prefix], row_of(self.proposal, prefix))
        return self._rows[prefix]

    def _mass(self, a: Number, word: Prefix, at: int, shape: Shape) -> Number:
        # With which a leaf at the word is drafted and kept, below a node entered at rate a.
        if at == len(word) or not shape:
            return a if at == len(word) and not shape else a * 0
        p, q, x = self[word[:at]], self.proposal[word[:at]], word[at]
        ways = self._rule(a, p, q, x, shape, self._replacement)
        return sum((mass * self._mass(rate, word, at + 1, child) for mass, rate, child in ways), a * 0)


def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node, rule: Rule = TRAVERSAL) -> Rows:
    """The target of the next call: rows are shaped where the text can still come by a leaf's word. Once it
    cannot, layers that the text has passed are dropped.
    """
    root = draft.root
    left = Shaped(target, proposal, len(root.prefix), root.shape, draft.replacement, rule)
    if len(stop.prefix) < left.end:
        return left
    while isinstance(target, Shaped) and target.end <= len(stop.prefix):
        target = target.target
    return target


def judged(
    verify: Callable[[Oracle, Draft, Rows], tuple[Node, Row]],
    oracle: Oracle,
    draft: Draft,
    target: Rows,
    rule: Rule = TRAVERSAL,
) -> tuple[Node, Row]:
    """The stop of a verifier whose leaves are shaped: it reads the shaped target, and the bonus row is drawn
    at leaves.
    """
    root, drafted = draft.root, {node.prefix: node.proposal for node in draft.root}
    rows = Shaped(target, Replaced(target, drafted), len(root.prefix), root.shape, draft.replacement, rule)
    stop, row = verify(oracle, draft, rows)
    return stop, row if stop.children else rows.at_leaf(stop.prefix)[0]
