"""The type of a keyed scheme: which coins are keyed, what a context is, and which contexts draw fresh."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from draftproof.theory.rows import Prefix, Row, point
from draftproof.theory.shared.coins import Coins, Name
from draftproof.theory.table import Rows
from draftproof.theory.targets.declared import Computed, Parametrised
from draftproof.theory.verifier import Verifier

CONTEXTS = "none", "committed", "drafted"
"""Which contexts draw fresh, without the key. `committed`: those that have produced a token of the text, or
of the path above in the same draft. `drafted`: also those at which an earlier call, or another branch of the
draft, has read a keyed coin, though what came of it was discarded.
"""


def won(coins: Coins, row: Row, name: Name, parameter: object = None) -> Row:
    """All mass on the token that the name draws from the row: Gumbel-max."""
    return point(coins.choose(row, name), row)


@dataclass(frozen=True)
class Keyed(Parametrised):
    """Which coins of a decoder are functions of a key and a context, the last `width` tokens.

    `draft`, `extra` and `accept` are the keys of drafted tokens, of the extra token and of acceptance coins,
    `rows` that of all rows of both models; an empty one leaves them as they are. `change(coins, row, name,
    parameter)` is what a row becomes under a key; a token is drawn freshly from what it becomes. The text
    follows over keys `law(p, p, parameter)`, or p if that is None. The contexts of `deduplicate` draw fresh.
    `lookback`: if the draft of the last call ended in token 0, one drafted token is verified, else all: a
    budget by what was drafted and may have been discarded.
    """

    name: str
    source: str
    draft: str = ""
    extra: str = ""
    accept: str = ""
    rows: str = ""
    change: Callable[[Coins, Row, Name, Any], Row] = won
    law: Callable[[Row, Row, fmpq], Row] | None = None
    deduplicate: str = "committed"
    width: int = 1
    lookback: bool = False

    def __str__(self) -> str:
        more = ",lookback" if self.lookback else ""
        return f"{super().__str__()},{self.deduplicate},width={self.width}{more}"

    def context(self, prefix: Prefix) -> Prefix:
        """What names a coin: the last tokens, or all that there are."""
        return prefix[-self.width :] if self.width else ()

    def fresh(self, context: Prefix, prefix: Prefix, read: frozenset[Prefix]) -> bool:
        """Whether a coin of the context is drawn without the key after a prefix; `read`: the contexts read
        before, where that counts.
        """
        before = (self.context(prefix[:n]) for n in range(len(prefix)))
        return self.deduplicate != "none" and (context in read or context in before)

    def meant(self, target: Rows) -> Rows:
        """The rows that the text follows over keys: the scheme's law, and p where a context draws fresh."""

        def row(prefix: Prefix) -> Row:
            p = target[prefix]
            if self.law is None or self.fresh(self.context(prefix), prefix, frozenset()):
                return p
            return self.law(p, p, self.parameter)

        return Computed(target.vocab, row)

    def declared(self, verifier: Verifier) -> bool:
        """Whether the text is declared to follow its law: no name is read twice by what survives.

        Changed rows are one target for each key. Else a rule that judges drafts node by node never looks
        below what it rejects, so that it is enough to spare committed contexts; others have read more.
        """
        named = [key for key in (self.draft, self.extra, self.accept) if key]
        if self.rows:  # where a scheme distorts, what draws fresh must depend on the text alone
            spared = self.deduplicate == "committed" or (self.deduplicate == "drafted" and not self.law)
        else:
            discarded = bool(self.draft or self.accept) and (not verifier.node_by_node or self.lookback)
            spared = not named or self.deduplicate in CONTEXTS[1 + discarded :]
        return verifier.lossless and spared and len({*named}) == len(named)
