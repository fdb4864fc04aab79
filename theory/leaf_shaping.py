"""Leaf shaping: which row follows a drafted word, after it was accepted whole and after a rejection.

docs/shaped-block.md derives it.
"""

from draftproof.theory.draft import Draft
from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Number, Prefix, Row, add, excess, meet, normalise, one, scale, share, total
from draftproof.theory.table import Rows


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


def shaped(P: Number, Q: Number, w: Number, p: Row, q: Row) -> tuple[Row, Row]:
    """The rows after a drafted word z of joint masses P and Q and block weight w: (the bonus row, after the
    whole draft was accepted; the target's row at z, after a rejection).

    K = Q w of the mass P is emitted with the bonus, R = P - K comes by later. The later row is as near to q
    as K bonus + R later = P p allows, so that the next call accepts more.
    """
    K = Q * w
    R = P - K
    if R <= 0:  # in floats K may be a little above P
        return p, p
    cap = scale(P / R, p)
    q = normalise(q)  # a row without mass stays so, and then both rows are p
    drafted, room = meet(q, cap), excess(cap, q)
    later = add(drafted, scale(share(1 - total(drafted), total(room)), room))
    return (excess(scale(P / K, p), scale(R / K, later)) if K > 0 else p), later


class Shaped:
    """The target for the text after a block whose last token was rejected: at the block's end, should the
    text reach it, the row is the later one of `shaped`. Layers stack as those of
    `draftproof.theory.modified_target.Modified` do.
    """

    __slots__ = ("_key", "_rows", "end", "proposal", "start", "target")

    def __init__(self, target: Rows, proposal: Rows, start: int, end: int):
        self.target, self.proposal, self.start, self.end = target, proposal, start, end
        self._rows: dict[Prefix, Row] = {}
        self._key = (target, id(proposal), start, end)

    @property
    def vocab(self) -> int:
        return self.target.vocab

    def __getitem__(self, prefix: Prefix) -> Row:
        if len(prefix) != self.end:
            return self.target[prefix]
        if prefix not in self._rows:
            P = Q = w = one(self.target[prefix])
            for i in range(self.start, self.end):
                drawn, x = prefix[:i], prefix[i]
                p_x, q_x = self.target[drawn][x], self.proposal[drawn][x]
                P, Q, w = P * p_x, Q * q_x, share(w * p_x, q_x)
            p, q = self.target[prefix], row_of(self.proposal, prefix)
            self._rows[prefix] = p if q is None else shaped(P, Q, w, p, q)[1]
        return self._rows[prefix]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shaped) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)
