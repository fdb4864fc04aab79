"""One call of a decoder under keys: a drafting scheme and a verifier as they are, their coins with names.

A choice belongs to the row that was read last. Its name is the key, the context of that row's prefix and how
many choices of its purpose were made there before: siblings of one node, and the coins that judge them.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache

from draftproof.theory.draft import Draft, chained
from draftproof.theory.instance import Instance
from draftproof.theory.keys.keyed import Keyed
from draftproof.theory.rows import Number, Prefix, Row
from draftproof.theory.shared.coins import Coins, Known, Name
from draftproof.theory.table import Rows
from draftproof.theory.targets.declared import Computed
from draftproof.theory.verifier import Verifier


@dataclass(frozen=True)
class Memory:
    """What is left between calls: the text, what is known of the names read before, the contexts at
    which keyed coins were read (where these draw fresh), the last drafted token, and whether a name was read
    twice; two readings of a key of rows are no fault, since given the key the rows are one table.
    """

    text: Prefix = ()
    known: frozenset[tuple[Name, Known]] = frozenset()
    read: frozenset[Prefix] = frozenset()
    last: int | None = None
    again: bool = False


class Call:
    """The oracle of a drafting scheme and a verifier, which names their choices; it drafts when it is made.

    `most`: how many drafted tokens are verified; a rule that selects among the requests of a batch sets it.
    """

    def __init__(self, coins: Coins, instance: Instance, keys: Keyed, memory: Memory):
        self.coins, self.instance, self.keys, self.memory = coins, instance, keys, memory
        self.purpose, self.at = "draft", memory.text
        self.read: dict[tuple[str, Prefix], Prefix] = {}  # key and context -> the prefix where it was read
        self._made = Counter[tuple[str, Prefix]]()
        self.draft = instance.draft.draw(self, self.reading(instance.proposal), memory.text)
        self.most = 1 if keys.lookback and memory.last == 0 else instance.draft.depth

    def emitted(self, verifier: Verifier) -> tuple[Memory, int]:
        """What is left after the call, and how many drafted tokens it accepted."""
        keys, before, path = self.keys, self.memory, self.draft.path
        draft, target = self.draft, self.reading(self.instance.target)
        if self.most < len(path) - 1:
            draft = Draft(chained(path[self.most].prefix, [node.proposal for node in path[: self.most]]))
        self.purpose, node, row = "extra", draft.root, target[before.text]
        if draft.root.children:
            node, row = verifier.verify(self, draft, target)
        self.at = node.prefix
        text, read = (*node.prefix, self.choose(row)), before.read
        if keys.deduplicate == "drafted":
            read |= {context for _, context in self.read}
        known = frozenset(self.coins.known.items())
        last = path[-1].token if keys.lookback else None
        again = before.again or any(name[0] != keys.rows for name in self.coins.again)
        return Memory(text, known, read, last, again), len(node.prefix) - len(before.text)

    def choose(self, row: Row) -> int:
        return self.coins.oracle.choose(self._changed(row, self._name(self.purpose)))

    def accept(self, probability: Number) -> bool:
        name = self._name("accept")
        if name is None:
            return self.coins.oracle.accept(probability)
        return not self.coins.choose((probability, 1 - probability), name)

    def reading(self, rows: Rows) -> Rows:
        """The model, whose rows note that they were read; as the scheme changes them."""

        @cache
        def changed(prefix: Prefix) -> Row:
            name = self._name("rows")
            return self._changed(rows[prefix], name and name[:-1])

        def read(prefix: Prefix) -> Row:
            self.at = prefix
            return changed(prefix)

        return Computed(rows.vocab, read)

    def _changed(self, row: Row, name: Name | None) -> Row:
        keys = self.keys
        return row if name is None else keys.change(self.coins, row, name, keys.parameter)

    def _name(self, purpose: str) -> Name | None:
        # The name of the next choice of a purpose; None for a fresh one.
        keys, key, place = self.keys, getattr(self.keys, purpose), (purpose, self.at)
        context = keys.context(self.at)
        self._made[place] += 1
        if not key or keys.fresh(context, self.at, self.memory.read):
            return None
        elsewhere = self.read.setdefault((key, context), self.at) != self.at
        return None if elsewhere and keys.deduplicate == "drafted" else (key, context, self._made[place])
