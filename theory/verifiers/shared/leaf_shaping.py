"""Leaf shaping: which row follows a drafted word, after it was accepted whole and in all other ways.

docs/findings.md derives it.
"""

from draftproof.theory.draft import Draft, Node
from draftproof.theory.errors import BadInput
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
    scale,
    share,
    total,
)
from draftproof.theory.table import Rows
from draftproof.theory.verifiers.shared.modified_target import DerivedTarget


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
    """(bonus, later): the two rows that follow a drafted word, of whose probability the share k is emitted by
    a whole accepted draft. The bonus row follows that draft; the later one is the target's row where the text
    comes to the same word in another way, in a later call.

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


class Shaped(DerivedTarget):
    """The target for all that is not a whole accepted draft of the block that starts at length `start`: after
    a word at which the draft can end, at length `end`, the row is the later one of `shaped`. Layers stack as
    those of `draftproof.theory.verifiers.shared.modified_target.Modified` do.

    The share k of the word's probability is Q w / P: P and Q are its joint probabilities under this target
    and the proposal, w its block weight.
    """

    def __init__(self, target: Rows, proposal: Rows, start: int, end: int):
        super().__init__(target, id(proposal), start, end)
        self.proposal, self.start, self.end = proposal, start, end
        self._rows: dict[Prefix, Row] = {}

    def __getitem__(self, prefix: Prefix) -> Row:
        if len(prefix) != self.end:
            return self.target[prefix]
        if prefix not in self._rows:
            k = w = one(self.target[prefix])
            for i in range(self.start, self.end):
                p, q, x = self.target[prefix[:i]], self.proposal[prefix[:i]], prefix[i]
                k, w = k * share(q[x], w * p[x]), share(w * p[x], q[x])
            self._rows[prefix] = shaped(k, self.target[prefix], row_of(self.proposal, prefix))[1]
        return self._rows[prefix]


def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
    """The target of the next call: after a rejection the row at the draft's end is shaped. Where the text has
    passed a layer's end, the layer is dropped.
    """
    left = Shaped(target, proposal, len(draft.root.prefix), len(draft.path[-1].prefix))
    if len(stop.prefix) < left.end:
        return left
    while isinstance(target, Shaped) and target.end <= len(stop.prefix):
        target = target.target
    return target
