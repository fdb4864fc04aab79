"""The type of a keyed scheme, and its setting: contexts, and which of them draw fresh."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from draftproof.theory.errors import BadInput, quoted
from draftproof.theory.numbers import exact, text
from draftproof.theory.rows import Prefix, Row
from draftproof.theory.shared.coins import Coins, Name
from draftproof.theory.table import Rows
from draftproof.theory.targets.declared import Declaration, Declared
from draftproof.theory.verifier import Verifier

CONTEXTS = "none", "committed", "drafted"
"""Which contexts draw fresh, without the key. `committed`: those that have produced a token of the text, or
of the path above in the same draft. `drafted`: also those at which an earlier call, or another branch of the
draft, has read a keyed coin, though what came of it was discarded.
"""


@dataclass(frozen=True)
class Keyed:
    """Which coins of a decoder are functions of a key and a context.

    `draft`, `extra` and `accept` are the keys of drafted tokens, of the extra token and of acceptance coins;
    an empty one leaves these coins fresh. `draw(coins, row, name)` draws a token by the coins of a name.
    `rows(coins, row, name, parameter)`, if it is given, is what a row becomes under the key, the target's and
    the proposal's alike: the text follows the changed rows, and over keys `law`, or p if that is None.
    """

    name: str
    source: str
    draft: str = ""
    extra: str = ""
    accept: str = ""
    draw: Callable[[Coins, Row, Name | None], int] = Coins.choose
    rows: Callable[[Coins, Row, Name, Any], Row] | None = None
    parameter: Any = None  # an fmpq where the scheme has one
    law: Callable[[fmpq], Declared] | None = None

    def __str__(self) -> str:
        return self.name if self.parameter is None else f"{self.name}:{text(self.parameter)}"

    def at(self, spelling: str) -> "Keyed":
        """The same with another parameter, or as it is without one."""
        if not spelling:
            return self
        if self.parameter is None:
            raise BadInput(f"{self.name} has no parameter, so {quoted(spelling)} has no place")
        value = exact(spelling)
        if value < 0 or (self.law is None and value > 1):
            raise BadInput(f"{self.name}: the parameter is from 0 {'up' if self.law else 'to 1'}")
        return replace(self, parameter=value)


@dataclass(frozen=True)
class Keys:
    """A scheme with its setting: `width` tokens make a context, and the contexts of `deduplicate` draw fresh.

    `lookback`: if the draft of the last call ended in token 0, one drafted token is verified, else all: a
    budget by what was drafted and may have been discarded.
    """

    scheme: Keyed
    deduplicate: str = "committed"
    width: int = 1
    lookback: bool = False

    def __str__(self) -> str:
        more = ",lookback" if self.lookback else ""
        return f"{self.scheme},{self.deduplicate},width={self.width}{more}"

    def context(self, prefix: Prefix) -> Prefix:
        """What names a coin: the last `width` tokens, or all that there are."""
        return prefix[-self.width :] if self.width else ()

    def fresh(self, context: Prefix, prefix: Prefix, read: frozenset[Prefix]) -> bool:
        """Whether a coin of the context is drawn without the key after a prefix; `read`: the contexts read
        before, where that counts.
        """
        before = (self.context(prefix[:n]) for n in range(len(prefix)))
        return self.deduplicate != "none" and (context in read or context in before)

    def forgets(self, context: Prefix, text: Prefix, read: frozenset[Prefix]) -> bool:
        """Whether no coin of the context can be read after this text."""
        return self.fresh(context, text, read)

    def meant(self, target: Rows) -> Rows:
        """The rows that the text follows over keys: the scheme's, and p where a context draws fresh."""
        law = self.scheme.law and self.scheme.law(self.scheme.parameter)
        return _Meant(law, target, target, None, self) if law else target

    def declared(self, verifier: Verifier) -> bool:
        """Whether the text is declared to follow its law: no name is read twice by what survives.

        Changed rows are one target for each key. Else a rule that judges drafts node by node never looks
        below what it rejects, so that it is enough to spare committed contexts; others have read more.
        """
        scheme = self.scheme
        named = [key for key in (scheme.draft, scheme.extra, scheme.accept) if key]
        if scheme.rows is not None:  # where a scheme distorts, what draws fresh must depend on the text alone
            spared = self.deduplicate == "committed" or (self.deduplicate == "drafted" and not scheme.law)
        else:
            discarded = bool(scheme.draft or scheme.accept) and (not verifier.node_by_node or self.lookback)
            spared = not named or self.deduplicate in CONTEXTS[1 + discarded :]
        return verifier.lossless and spared and len({*named}) == len(named)


class _Meant(Declaration):
    def __init__(self, *declared: Any):
        *declaration, self.keys = declared
        super().__init__(*declaration)

    def __getitem__(self, prefix: Prefix) -> Row:
        fresh = self.keys.fresh(self.keys.context(prefix), prefix, frozenset())
        return self.target[prefix] if fresh else super().__getitem__(prefix)
