"""Targets with other rows than a model has: those that a stopped block leaves behind, and single rows."""

from collections.abc import Mapping
from typing import Any

from draftproof.theory.draft import Draft, Node
from draftproof.theory.rows import Number, Prefix, Row, excess, normalise, one, scale
from draftproof.theory.table import Rows


class DerivedTarget:
    """A target derived from another table; two are equal if their arguments are."""

    def __init__(self, target: Rows, *key: Any):
        self.target, self.key = target, (target, *key)

    @property
    def vocab(self) -> int:
        return self.target.vocab

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class Replaced(DerivedTarget):
    """The target with other rows after some prefixes."""

    def __init__(self, target: Rows, rows: Mapping[Prefix, Row]):
        super().__init__(target, id(rows))
        self.rows = rows

    def __getitem__(self, prefix: Prefix) -> Row:
        return self.rows[prefix] if prefix in self.rows else self.target[prefix]


class Modified(DerivedTarget):
    """The target for the tokens that a stopped block still owes (sun2025block, Appendix).

    At a context z, from the block's start at length `start` up to length `end`, the row is
    norm((P p(.|z) - Q q(.|z))+) with P, Q the joint probabilities of the block's tokens in z
    under `target` and `proposal`. Elsewhere it is the target's own. Layers stack: `target` may
    itself be modified, and its rows, as modified, make up P.
    """

    def __init__(self, target: Rows, proposal: Rows, start: int, end: int):
        super().__init__(target, id(proposal), start, end)
        self.proposal, self.start, self.end = proposal, start, end
        self._rows: dict[Prefix, Row] = {}

    def __getitem__(self, prefix: Prefix) -> Row:
        if not self.start < len(prefix) < self.end:
            return self.target[prefix]
        if prefix not in self._rows:
            P, Q = self._joint(prefix)
            want, have = scale(P, self.target[prefix]), scale(Q, self.proposal[prefix])
            self._rows[prefix] = normalise(excess(want, have))
        return self._rows[prefix]

    def _joint(self, prefix: Prefix) -> tuple[Number, Number]:
        P = Q = one(self.target[prefix])
        for i in range(self.start, len(prefix)):
            P = P * self.target[prefix[:i]][prefix[i]]
            Q = Q * self.proposal[prefix[:i]][prefix[i]]
        return P, Q


def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
    """The target of the next iteration after a block that stopped at `stop`.

    The extra token is at depth tau + 1, so rows at depths tau + 1 to gamma - 1 are modified; none
    are when tau >= gamma - 1.
    """
    start = len(draft.root.prefix)
    end = len(draft.path[-1].prefix)
    return Modified(target, proposal, start, end) if len(stop.prefix) + 1 < end else target
