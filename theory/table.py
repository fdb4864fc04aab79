"""Next-token tables: a row for every prefix."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Protocol

from flint import fmpq

from draftproof.theory.errors import BadInput, located, quoted, whole
from draftproof.theory.numbers import ONE, ZERO, exact, text
from draftproof.theory.rows import Prefix, Row, above


class Rows(Protocol):
    """A model: its next-token row after a prefix."""

    @property
    def vocab(self) -> int: ...

    def __getitem__(self, prefix: Prefix, /) -> Row: ...


class Table(dict[Prefix, Row]):
    """An immutable model: prefix (a tuple of token ids) -> next-token row.

    A missing prefix falls back to its longest suffix in the table. So a table with only the empty prefix's
    row is context-free, and one with every prefix of length k is an order-k Markov model. Rows may hold any
    kind of number; `Table.exact` reads and checks exact ones.

    >>> coin = Table.exact(2, {(): ["1/3", "2/3"], (0,): [1, 0]})
    >>> coin[(1, 1)], coin[(1, 0)]
    ((1/3, 2/3), (1, 0))
    """

    __slots__ = ("_rows", "vocab")

    def __init__(self, vocab: int, rows: Mapping[Prefix, Row]):
        if not isinstance(rows, Mapping):
            raise BadInput(f"rows must be a mapping from prefixes to rows, not {quoted(rows)}")
        if () not in rows:
            raise BadInput("the row of the empty prefix is missing")
        self.vocab = vocab
        self._rows = dict(rows)
        super().__init__(self._rows)

    @classmethod
    def exact(cls, vocab: int, rows: Mapping[Prefix, Iterable[object]]) -> "Table":
        """A table of checked rational rows: V non-negative numbers that sum to exactly 1.

        Raises BadInput that names the prefix; floats are refused.
        """
        whole("vocab", vocab, 1)
        if not isinstance(rows, Mapping):
            raise BadInput(f"rows must be a mapping from prefixes to rows, not {quoted(rows)}")
        return cls(vocab, {prefix: exact_row(vocab, prefix, row) for prefix, row in rows.items()})

    @classmethod
    def from_floats(cls, vocab: int, rows: Mapping[Prefix, Iterable[float]]) -> "Table":
        """A table of rows of floats, such as a softmax: each float as it is, divided by the sum of its row.

        Raises BadInput as `exact` does, and for a row whose sum is not within 1e-3 of 1.

        >>> Table.from_floats(2, {(): [0.25, 0.75]})[()]
        (1/4, 3/4)
        """
        made = {}
        for prefix, row in dict(rows).items() if isinstance(rows, Mapping) else ():
            with suppress(TypeError, ValueError, OverflowError):  # `exact` says what is wrong with it
                numbers = [fmpq(*float(each).as_integer_ratio()) for each in row]
                if abs((mass := sum(numbers, ZERO)) - ONE) < fmpq(1, 1000):
                    numbers = [each / mass for each in numbers]
                row = numbers
            made[prefix] = row
        return cls.exact(vocab, made if isinstance(rows, Mapping) else rows)

    def __repr__(self) -> str:
        return f"<Table V = {self.vocab}, {len(self._rows)} rows>"

    def __missing__(self, prefix: Prefix) -> Row:
        suffix = prefix[1:]
        while suffix not in self._rows:
            suffix = suffix[1:]
        row = self[prefix] = self._rows[suffix]
        return row

    def given(self) -> Iterator[tuple[Prefix, Row]]:
        """The rows that were given, with their prefixes."""
        return iter(self._rows.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._rows == other._rows

    __ne__ = object.__ne__

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.vocab, len(self._rows)))

    def __reduce__(self) -> tuple:
        return Table, (self.vocab, self._rows)


def exact_row(vocab: int, prefix: Prefix, values: Iterable[object]) -> Row:
    """One checked row of rationals; raises BadInput that names the prefix."""
    if not isinstance(prefix, tuple) or not all(type(token) is int for token in prefix):
        raise BadInput(f"{quoted(prefix)} is no prefix, a tuple of token ids")
    where = f"row {quoted(' '.join(map(str, prefix)))}"
    if any(not 0 <= token < vocab for token in prefix):
        raise BadInput(f"{where}: has a token outside the vocabulary of {vocab}")
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise BadInput(f"{where}: must be a list of {vocab} numbers")
    with located(where):
        row = tuple(exact(value) for value in values)
    if len(row) != vocab:
        raise BadInput(f"{where}: has {len(row)} entries, vocab is {vocab}")
    if found := flaw(row):
        raise BadInput(f"{where}: {found}")
    return row


def flaw(row: Row) -> str:
    """Why a row of rationals is no law; empty if it is one.

    >>> flaw((exact("1/2"), exact("1/3"))), flaw((exact("3/2"), exact("-1/2"))), flaw((ONE,))
    ('sums to 5/6, not 1', 'has a negative entry', '')
    """
    mass = sum(row, ZERO)
    if mass == ONE and not [x for x in row if x and not above(x)]:
        return ""
    return "has a negative entry" if min(row) < ZERO else f"sums to {_sum(mass)}, not 1"


def _sum(mass: fmpq) -> str:
    if len(text(mass)) <= 60:
        return text(mass)
    off = abs(mass - ONE)
    tiny = Decimal(int(off.p)) / Decimal(int(off.q))
    return "more than 2" if mass > 2 else f"1 {'+' if mass > ONE else '-'} {tiny:.3g}"
