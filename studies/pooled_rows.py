"""Pooled rows: the row at which a call starts depends on how often one starts at that text.

python -m studies.pooled_rows

Decoding comes to a text in three ways: a call starts there, a whole accepted draft ends there, or the text
lies inside the accepted part of a draft. With drafts of gamma tokens, how often each happens is a function of
the text, so the rows of the first two ways can be shaped together (`shaped`): the call that
starts gets a row drawn towards the proposal's, and the bonus token what that leaves. It is no verifier of the
registry: a single call that the target's own rows continue has not the target's law.
"""

from collections.abc import Iterator

import click

from draftproof.proofs_check.claims.checks import exact_instances
from draftproof.simulators.laws.decode import decode
from draftproof.theory.draft import Draft, Node
from draftproof.theory.drafts.chain import Chain
from draftproof.theory.instance import Instance
from draftproof.theory.law import law_of
from draftproof.theory.numbers import ONE, ZERO
from draftproof.theory.oracle import Oracle
from draftproof.theory.rows import (
    Number,
    Prefix,
    Row,
    add,
    excess,
    meet,
    normalise,
    otherwise,
    scale,
    share,
    total,
)
from draftproof.theory.table import Rows
from draftproof.theory.verifier import CHAIN, Stop, Verifier
from draftproof.theory.verifiers import block
from draftproof.theory.verifiers.shared.modified_target import DerivedTarget

Running = tuple[tuple[Number, Number], ...]
"""Of each call that started within the last gamma tokens, oldest first: the share of the text's probability
in which it started there and drafted the tokens since, and their block weight.
"""


def shaped(k: Number, p: Row, q: Row) -> tuple[Row, Row]:
    """(bonus, later): the row after a whole accepted draft, which has the share k of the text's probability,
    and after all other ways to it. k bonus + (1 - k) later = p, and the later row is as near to q as that
    allows, so that the next call accepts more.

    >>> from draftproof.theory.numbers import exact
    >>> shaped(exact("1/2"), (exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3")))
    ((0, 1), (2/3, 1/3))
    """
    have = scale(1 - k, q)
    rest = excess(p, have)  # of mass k or more
    later = add(meet(p, have), scale(1 - share(k, total(rest)), rest))
    return normalise(otherwise(rest, p)), normalise(otherwise(later, p))


class Pooled(DerivedTarget):
    """The target for a call that starts at length `root`, in decoding by drafts of gamma tokens from the
    empty text on. Only the row at the root is not the target's own.
    """

    def __init__(self, target: Rows, proposal: Rows, gamma: int, root: int = 0):
        super().__init__(target, id(proposal), gamma, root)
        self.proposal, self.gamma, self.root = proposal, gamma, root
        self._known: dict[Prefix, tuple[Row, Row, Number, Running]] = {}

    def starting(self, root: int) -> "Pooled":
        """The target for a call that starts at another length."""
        other = Pooled(self.target, self.proposal, self.gamma, root)
        other._known = self._known
        return other

    def __getitem__(self, prefix: Prefix) -> Row:
        return self.rows(prefix)[0] if len(prefix) == self.root else self.target[prefix]

    def rows(self, text: Prefix) -> tuple[Row, Row, Number, Running]:
        """(row of a call that starts here, of the bonus token; the share in which calls start; running)."""
        if text not in self._known:
            self._known[text] = self._made(text)
        return self._known[text]

    def _made(self, text: Prefix) -> tuple[Row, Row, Number, Running]:
        p = self.target[text]
        running: Running = ()
        if text:
            before, x = text[:-1], text[-1]
            p_x, q_x = self.target[before][x], self.proposal[before][x]
            if not p_x > 0:  # nothing comes here
                return p, p, ZERO, ()
            row, _, started, calls = self.rows(before)
            on = [(a * q_x / p_x, share(w * p_x, q_x)) for a, w in calls[-self.gamma + 1 :] if self.gamma > 1]
            running = (*on, (started * q_x / p_x, share(row[x], q_x)))
        kept = [a * w for a, w in running]
        starts = ONE - sum(kept, ZERO)
        whole = kept[0] if len(kept) == self.gamma else ZERO
        if not starts + whole > 0:
            return p, p, starts, running
        bonus, row = shaped(whole / (starts + whole), p, self.proposal[text])
        return row, bonus, starts, running


def rule(instance: Instance) -> Verifier:
    """Block verification with pooled rows: tau as there, after the whole draft Y ~ the bonus token's row."""
    pooled = Pooled(instance.target, instance.proposal, instance.draft.depth)

    def verify(oracle: Oracle, draft: Draft, target: Rows) -> Stop:
        stop, row = block.verify(oracle, draft, target)
        leaf = draft.path[-1]
        return (leaf, pooled.rows(leaf.prefix)[1]) if stop is leaf else (stop, row)

    def carry(target: Rows, proposal: Rows, draft: Draft, stop: Node) -> Rows:
        return pooled.starting(len(stop.prefix) + 1)

    return Verifier("pooled rows", "draftproof, docs/findings.md", CHAIN, False, verify, carry)


def keeps_the_law(case: tuple[int, Instance]) -> bool:
    """Whether the tokens that so many calls are sure to emit have the target's law."""
    calls, instance = case
    return decode(instance, rule(instance), calls, calls).first(calls) == law_of(instance.target, calls)


def cases() -> Iterator[tuple[int, Instance]]:
    for calls, depth, vocabs in ((4, 1, (2, 3)), (4, 2, (2, 3)), (5, 3, (2,))):
        for instance in exact_instances([(vocab, Chain(depth)) for vocab in vocabs], 20):
            yield calls, instance


if __name__ == "__main__":
    found = [keeps_the_law(case) for case in cases()]
    click.echo(f"the law is kept on {sum(found)} of {len(found)} exact instances")
