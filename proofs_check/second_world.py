"""The numbers and the tables of the second opinion: quotients of sympy's polynomials."""

from collections.abc import Callable, Iterable
from itertools import product
from operator import add, mul, sub, truediv
from time import monotonic
from typing import Any, ClassVar

import sympy
import sympy.polys.fields

from proofs_check.second_answers import Answers
from theory.rows import Prefix, Row
from theory.table import Table


class Term:
    """A rational function in sympy's own arithmetic; its denominator is not zero where it is used."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]
    ask: ClassVar[Answers]
    functions: ClassVar[Any]
    known: ClassVar[dict[Any, Any]]

    def __init__(self, value: Any):
        self.value = self.functions(int(value)) if isinstance(value, int) else value

    def _other(self, other: Any) -> Any:
        return other.value if isinstance(other, Term) else self.functions(int(other))

    def _made(self, operation: Callable[[Any, Any], Any], a: Any, b: Any) -> "Term":
        # Every cell repeats most of the others' arithmetic: it is done once.
        key = operation, a, b
        if key not in self.known:
            self.known[key] = operation(a, b)
        return type(self)(self.known[key])

    def __add__(self, other: Any) -> "Term":
        return self._made(add, self.value, self._other(other))

    def __radd__(self, other: Any) -> "Term":
        return self._made(add, self._other(other), self.value)

    def __sub__(self, other: Any) -> "Term":
        return self._made(sub, self.value, self._other(other))

    def __rsub__(self, other: Any) -> "Term":
        return self._made(sub, self._other(other), self.value)

    def __neg__(self) -> "Term":
        return type(self)(-self.value)

    def __mul__(self, other: Any) -> "Term":
        return self._made(mul, self.value, self._other(other))

    def __rmul__(self, other: Any) -> "Term":
        return self._made(mul, self._other(other), self.value)

    def __truediv__(self, other: Any) -> "Term":
        other = type(self)(self._other(other))
        if other == 0:
            raise ZeroDivisionError("a verifier divides by zero")
        return self._made(truediv, self.value, other.value)

    def __rtruediv__(self, other: Any) -> "Term":
        return type(self)(self._other(other)) / self

    def __pow__(self, power: int) -> "Term":
        return type(self)(self.value**power)

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
        difference = (self - type(self)(self._other(other))).value
        return self.ask.sign_in(signs, difference.numer, difference.denom)


class World:
    """All tables of one size, with free entries, in sympy's numbers: what a program is run on."""

    def __init__(self, vocab: int, depth: int, seconds: float):
        self.vocab, self.depth = vocab, depth
        names: list[str] = []
        rows = {
            letter: {prefix: _named(letter, vocab, prefix, names) for prefix in _prefixes(vocab, last)}
            for letter, last in (("p", depth), ("q", depth - 1))
        }
        functions, *gens = sympy.polys.fields.field(names, sympy.QQ)
        self.number = type("Term", (Term,), {"__slots__": (), "functions": functions, "known": {}})
        self.signs = self  # as a domain of proofs has its numbers
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
        self.number.ask = self.answers = Answers(entries, names, vocab, monotonic() + seconds)


def _prefixes(vocab: int, depth: int) -> Iterable[Prefix]:
    return [prefix for length in range(depth + 1) for prefix in product(range(vocab), repeat=length)]


def _named(letter: str, vocab: int, prefix: Prefix, names: list[str]) -> list[str]:
    free = ["_".join((letter, *map(str, prefix), str(x))) for x in range(vocab - 1)]
    names += free
    return free
