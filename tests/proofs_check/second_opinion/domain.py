"""The numbers and the tables of the second opinion: quotients of sympy's polynomials."""

from collections.abc import Callable, Iterable
from itertools import product
from operator import add, mul, sub, truediv
from time import thread_time
from typing import Any, ClassVar

import sympy
import sympy.polys.fields

from draftproof.theory.rows import Prefix, Row
from draftproof.theory.table import Table
from tests.proofs_check.second_opinion.answers import Answers


class Term:
    """A rational function in sympy's own arithmetic; its denominator is not zero where it is used."""

    __slots__ = ("at",)
    __hash__ = None  # type: ignore[assignment]
    ask: ClassVar[Answers]
    store: ClassVar["Store"]

    def __init__(self, value: Any):
        self.at = self.store.integer(value) if isinstance(value, int) else self.store.place(value)

    @classmethod
    def _stored(cls, at: int) -> "Term":
        term = cls.__new__(cls)
        term.at = at
        return term

    def _other(self, other: Any) -> int:
        return other.at if isinstance(other, Term) else self.store.integer(int(other))

    def _made(self, operation: Callable[[Any, Any], Any], a: int, b: int) -> "Term":
        return self._stored(self.store.made(operation, a, b))

    def __add__(self, other: Any) -> "Term":
        return self._made(add, self.at, self._other(other))

    def __radd__(self, other: Any) -> "Term":
        return self._made(add, self._other(other), self.at)

    def __sub__(self, other: Any) -> "Term":
        return self._made(sub, self.at, self._other(other))

    def __rsub__(self, other: Any) -> "Term":
        return self._made(sub, self._other(other), self.at)

    def __neg__(self) -> "Term":
        return 0 - self

    def __mul__(self, other: Any) -> "Term":
        return self._made(mul, self.at, self._other(other))

    def __rmul__(self, other: Any) -> "Term":
        return self._made(mul, self._other(other), self.at)

    def __truediv__(self, other: Any) -> "Term":
        other = self._stored(self._other(other))
        if other == 0:
            raise ZeroDivisionError("a verifier divides by zero")
        return self._made(truediv, self.at, other.at)

    def __rtruediv__(self, other: Any) -> "Term":
        return self._stored(self._other(other)) / self

    def __pow__(self, power: int) -> "Term":
        return type(self)(self.store.values[self.at] ** power)

    def __lt__(self, other: Any) -> bool:
        return self._signed(other, {-1})

    def __gt__(self, other: Any) -> bool:
        return self._signed(other, {1})

    def __le__(self, other: Any) -> bool:
        return self._signed(other, {-1, 0})

    def __ge__(self, other: Any) -> bool:
        return self._signed(other, {0, 1})

    def __eq__(self, other: object) -> bool:
        return self._signed(other, {0})

    def __ne__(self, other: object) -> bool:
        return self._signed(other, {-1, 1})

    def __bool__(self) -> bool:
        return self != 0

    def _signed(self, other: Any, signs: set[int]) -> bool:
        difference = self.store.made(sub, self.at, self._other(other))
        return self.ask.sign_in(signs, difference, self.store.values[difference])


class Store:
    """Every number once, by its place: the cells repeat most of each other's arithmetic."""

    def __init__(self, functions: Any):
        self.functions = functions
        self.values: list[Any] = []
        self._places: dict[Any, int] = {}
        self._integers: dict[int, int] = {}
        self._made: dict[tuple[Callable[[Any, Any], Any], int, int], int] = {}

    def integer(self, value: int) -> int:
        """The place of an integer."""
        if value not in self._integers:
            self._integers[value] = self.place(self.functions(value))
        return self._integers[value]

    def place(self, value: Any) -> int:
        """The place of a rational function."""
        if value not in self._places:
            self._places[value] = len(self.values)
            self.values.append(value)
        return self._places[value]

    def made(self, operation: Callable[[Any, Any], Any], a: int, b: int) -> int:
        """The place of the result."""
        key = operation, a, b
        if key not in self._made:
            self._made[key] = self.place(operation(self.values[a], self.values[b]))
        return self._made[key]


class Domain:
    """All tables of one size, with free entries, in sympy's numbers: what a program is run on."""

    def __init__(self, vocab: int, depth: int, seconds: float):
        self.vocab, self.depth = vocab, depth
        names: list[str] = []
        rows = {
            letter: {prefix: _named(letter, vocab, prefix, names) for prefix in _prefixes(vocab, last)}
            for letter, last in (("p", depth), ("q", depth - 1))
        }
        functions, *gens = sympy.polys.fields.field(names, sympy.QQ)
        self.number = type("Term", (Term,), {"__slots__": (), "store": Store(functions)})
        value = dict(zip(names, gens, strict=True))
        entries: list[Any] = []

        def row(free: list[str]) -> Row:
            masses = [value[name] for name in free]
            masses.append(functions(1) - sum(masses, functions(0)))
            entries.extend(mass.numer for mass in masses)
            return tuple(map(self.number, masses))

        tables = {
            letter: Table(vocab, {prefix: row(free) for prefix, free in given.items()})
            for letter, given in rows.items()
        }
        self.target, self.proposal = tables["p"], tables["q"]
        self.number.ask = self.answers = Answers(entries, names, vocab, thread_time() + seconds)


def _prefixes(vocab: int, depth: int) -> Iterable[Prefix]:
    return [prefix for length in range(depth + 1) for prefix in product(range(vocab), repeat=length)]


def _named(letter: str, vocab: int, prefix: Prefix, names: list[str]) -> list[str]:
    free = ["_".join((letter, *map(str, prefix), str(x))) for x in range(vocab - 1)]
    names += free
    return free
