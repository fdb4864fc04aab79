"""One call of a decoder under keys: a drafting scheme and a verifier as they are, their coins with names.

A choice belongs to the row that was read last. Its name is the key, the context of that row's prefix and how
many choices of its purpose were made there before: siblings of one node, and the coins that judge them.
"""

from collections import Counter
from dataclasses import dataclass

from draftproof.theory.draft import Draft, chained
from draftproof.theory.instance import Instance
from draftproof.theory.keys.keyed import Keys
from draftproof.theory.rows import Number, Prefix, Row
from draftproof.theory.shared.coins import Coins, Name, Part
from draftproof.theory.table import Rows
from draftproof.theory.verifier import Verifier

ROWS = "rows"
"""The key of changed rows. Two readings of such a name are no fault: given the key the rows are one table."""


@dataclass(frozen=True)
class Memory:
    """What is left between calls: the text, what is known of names that can be read again, the contexts at
    which keyed coins were read (where these draw fresh), the last drafted token, and whether a name was read
    twice.
    """

    text: Prefix = ()
    known: frozenset[tuple[Name, Part]] = frozenset()
    read: frozenset[Prefix] = frozenset()
    last: int | None = None
    again: bool = False


class Call:
    """The oracle of a drafting scheme and a verifier, which names their choices."""

    def __init__(self, coins: Coins, keys: Keys, memory: Memory):
        self.coins, self.keys, self.before = coins, keys, memory.read
        self.purpose, self.key = "draft", keys.scheme.draft
        self.at: Prefix = memory.text
        self.read: dict[tuple[str, Prefix], Prefix] = {}  # key and context -> the prefix where it was read
        self._made = Counter[tuple[str, Prefix]]()

    def choose(self, row: Row) -> int:
        return self.keys.scheme.draw(self.coins, row, self.name(self.purpose, self.key))

    def accept(self, probability: Number) -> bool:
        return self.coins.accept(probability, self.name("accept", self.keys.scheme.accept))

    def name(self, purpose: str, key: str) -> Name | None:
        """The name of the next choice of a purpose; None for a fresh one."""
        n = self._made[purpose, self.at]
        self._made[purpose, self.at] += 1
        return (key, self._context(key), n) if key and self._is_keyed(key) else None

    def row(self, row: Row) -> Row:
        """The row after the prefix read last, as the scheme changes it."""
        scheme = self.keys.scheme
        if scheme.rows is None or not self._is_keyed(ROWS):
            return row
        return scheme.rows(self.coins, row, (ROWS, self._context(ROWS)), scheme.parameter)

    def _is_keyed(self, key: str) -> bool:
        keys, context = self.keys, self.keys.context(self.at)
        elsewhere = keys.deduplicate == "drafted" and self.read.get((key, context), self.at) != self.at
        return not (elsewhere or keys.fresh(context, self.at, self.before))

    def _context(self, key: str) -> Prefix:
        context = self.keys.context(self.at)
        self.read.setdefault((key, context), self.at)
        return context


class Read:
    """A model whose rows note in a call that they were read."""

    def __init__(self, rows: Rows, call: Call):
        self.rows, self.call, self.vocab = rows, call, rows.vocab
        self._found: dict[Prefix, Row] = {}

    def __getitem__(self, prefix: Prefix) -> Row:
        self.call.at = prefix
        if prefix not in self._found:
            self._found[prefix] = self.call.row(self.rows[prefix])
        return self._found[prefix]


def call(
    coins: Coins, instance: Instance, verifier: Verifier, keys: Keys, memory: Memory
) -> tuple[Memory, int]:
    """One round of draft, verify, emit: what is left after it, and how many drafted tokens it accepted."""
    run = Call(coins, keys, memory)
    draft = instance.draft.draw(run, Read(instance.proposal, run), memory.text)
    leaf = draft.path[-1].prefix
    if keys.lookback and memory.last == 0:
        draft = Draft(chained(draft.path[1].prefix, [draft.root.proposal]))
    run.purpose, run.key = "extra", keys.scheme.extra
    node, row = verifier.verify(run, draft, Read(instance.target, run))
    run.at = node.prefix
    text = (*node.prefix, run.choose(row))
    read = memory.read
    if keys.deduplicate == "drafted":
        read |= {context for _, context in run.read}
    known = frozenset(each for each in coins.known.items() if not keys.forgets(each[0][1], text, read))
    last = leaf[-1] if keys.lookback else None
    again = memory.again or any(name[0] != ROWS for name in coins.again)
    return Memory(text, known, read, last, again), len(node.prefix) - len(memory.text)
