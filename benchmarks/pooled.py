"""Pooled block verification: the target's row depends on how often a call starts at the text.

Decoding comes to a text in three ways: a call starts there, a whole accepted draft ends there, or the text
lies inside an accepted part of a draft. With drafts of gamma tokens, how often each happens is a function of
the text. So the rows of the first two ways can be shaped together (`leaf_shaping.shaped`): a call that starts
there gets a row drawn towards the proposal's, and the bonus token what that leaves. docs/findings.md
derives it.

It is no verifier of the registry: the text of a run is the target's, but a single call followed by the
target's rows is not, since a row is made up for by other calls' rows.
"""

from dataclasses import dataclass

from draftproof.theory.rows import Number, Prefix, Row, one, share
from draftproof.theory.table import Rows
from draftproof.theory.verifier import CHAIN, Draft, Node, Oracle, Stop, Verifier
from draftproof.theory.verifiers.block import verify as block_verification
from draftproof.theory.verifiers.shared.leaf_shaping import row_of, shaped
from draftproof.theory.verifiers.shared.modified_target import Over, Replaced


@dataclass(frozen=True)
class Text:
    """What is known of a text, in shares of its probability.

    starting: how often a call starts here, with `first` for the target's row. bonus: the row after a whole
    accepted draft that ends here. calls: of each call that started within the last gamma tokens, oldest
    first, (S, Q, w): its share S, the proposal's joint probability Q of the tokens since, and their block
    weight w, so that S Q w is the share in which it has accepted all of them.
    """

    starting: Number
    first: Row
    bonus: Row
    calls: tuple[tuple[Number, Number, Number], ...] = ()


class Pooled(Over):
    """The target for a call that starts at length `root`, where decoding began at length `start` and every
    draft has gamma tokens. Only the row at the root differs from the target's.
    """

    def __init__(self, target: Rows, proposal: Rows, start: int, gamma: int, root: int | None = None):
        self.root = start if root is None else root
        super().__init__(target, id(proposal), start, gamma, self.root)
        self.proposal, self.start, self.gamma = proposal, start, gamma
        self._texts: dict[Prefix, Text] = {}

    def starting(self, root: int) -> "Pooled":
        """The target for a call that starts at another length."""
        other = Pooled(self.target, self.proposal, self.start, self.gamma, root)
        other._texts = self._texts
        return other

    def __getitem__(self, prefix: Prefix) -> Row:
        return self.at(prefix).first if len(prefix) == self.root else self.target[prefix]

    def at(self, text: Prefix) -> Text:
        """What is known of a text."""
        if text not in self._texts:
            self._texts[text] = self._made(text)
        return self._texts[text]

    def _made(self, text: Prefix) -> Text:
        p = self.target[text]
        if len(text) == self.start:
            return Text(one(p), p, p)
        before, x = text[:-1], text[-1]
        old, p_x, q_x = self.at(before), self.target[before][x], self.proposal[before][x]
        if not p_x > 0:  # no text goes on here
            return Text(one(p), p, p)
        calls = [(S / p_x, Q * q_x, share(w * p_x, q_x)) for S, Q, w in old.calls]
        calls = calls[1:] if len(calls) == self.gamma else calls
        calls.append((old.starting / p_x, q_x, share(old.first[x], q_x)))
        kept = [S * Q * w for S, Q, w in calls]
        left = one(p) - sum(kept[1:], kept[0])
        starting = left if left > 0 else kept[0] * 0
        whole = kept[0] if len(calls) == self.gamma else kept[0] * 0
        first, bonus = self.rows(starting, whole, p, row_of(self.proposal, text))
        return Text(starting, first, bonus, tuple(calls))

    def rows(self, starting: Number, whole: Number, p: Row, q: Row | None) -> tuple[Row, Row]:
        """(the row of the calls that start, the row of the bonus token): with these shares, p together."""
        if q is None or not starting + whole > 0:
            return p, p
        bonus, first = shaped(whole / (starting + whole), p, q)
        return first, bonus


def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
    """tau as in block verification; after the whole draft Y ~ the bonus row of `Pooled`."""
    stop, row = block_verification(oracle, draft, target)
    *_, leaf = draft.path
    if stop is not leaf:
        return stop, row
    drafted = Replaced(target, {node.prefix: node.proposal for node in draft.path})
    return leaf, _pooled(target, drafted, draft).at(leaf.prefix).bonus


def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
    """The target of a call that starts after `stop` and one more token."""
    return _pooled(target, proposal, draft).starting(len(stop.prefix) + 1)


def _pooled(target: Rows, proposal: Rows, draft: Draft) -> Pooled:
    root, *drafted = draft.path
    return target if isinstance(target, Pooled) else Pooled(target, proposal, len(root.prefix), len(drafted))


VERIFIER = Verifier(
    "pooled-block",
    "draftproof, docs/findings.md",
    CHAIN,
    lossless=False,
    verify=verify,
    carry=carry,
    reads_leaves=True,
)
