"""Speculative speculative decoding: a draft prepared for an outcome that was only predicted.

While the target verifies, the drafter drafts after the outcome it expects. At a hit that is the draft; at a
miss it drafts anew, or falls back to tokens that were drawn from other rows.

>>> from draftproof.theory.table import Table
>>> Prepared(2, Table.exact(2, {(): ["1/2", "1/2"]}), own_rows=True).outcomes(support=2)
4
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from draftproof.theory.draft import Draft, chained
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import Prefix, descending
from draftproof.theory.table import Rows
from draftproof.theory.verifier import CHAIN, Stop, Verifier


@dataclass(frozen=True)
class Prepared:
    """A chain whose tokens are drawn from `rows` and not from the proposal's.

    `own_rows`: the verifier is given the rows that the tokens were drawn from. Otherwise it is given the rows
    that the drafter has for the true context, which is the mistake of a stale draft. At a hit both are equal.
    """

    depth: int
    rows: Rows
    own_rows: bool
    kind: ClassVar[str] = "prepared"
    label = "chain"

    def draw(self, oracle: Oracle, proposal: Rows, context: Prefix = ()) -> Draft:
        leaf, laws = context, []
        for _ in range(self.depth):
            laws.append((self.rows if self.own_rows else proposal)[leaf])
            leaf = (*leaf, oracle.choose(self.rows[leaf]))
        return Draft(chained(leaf, laws))

    def outcomes(self, support: int) -> int:
        return support**self.depth

    def smaller(self) -> "Iterator[Prepared]":
        if self.depth > 1:
            yield Prepared(self.depth - 1, self.rows, self.own_rows)


def argmax_match(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """The reference code's rule where no hit is reported (kumar2026ssd, ssd/utils/verify.py), at temperatures
    above 0: a drafted token is kept if it is the target's likeliest; else Y ~ p. Lossy.
    """
    for node, child in pairwise(draft.path):
        p = target[node.prefix]
        if child.token != descending(p)[0]:
            return node, p
    leaf = draft.path[-1]
    return leaf, target[leaf.prefix]


ARGMAX_MATCH = Verifier(
    "argmax-match", "kumar2026ssd, released code", CHAIN, lossless=False, verify=argmax_match, ordered=True
)
