"""A second opinion: every full cell of signs on its own, in other arithmetic and another order.

Shares nothing with the cells of `signs` but the verifier: drafts and coins are enumerated by
`simulators`, the law is gathered and compared by `theory.emission`, numbers are quotients of sympy's
own polynomials. Every comparison is answered on the way; where z3 does not rule the other answer out,
the whole run is repeated with it. Meant for two symbols and two tokens.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from operator import add, mul, sub, truediv
from time import monotonic
from typing import Any, ClassVar

import sympy
import sympy.polys.fields

from proofs_check.means import Mean
from proofs_check.second_answers import Answers
from simulators.enumerate import iteration, outcomes
from theory.draft import Node
from theory.drafts import Scheme
from theory.emission import Emission
from theory.rows import Number, Prefix, Row
from theory.table import Rows, Table
from theory.verifier import Verifier


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


@dataclass(frozen=True)
class Opinion:
    """Whether the statement holds in every full cell, and how many were looked at."""

    holds: bool
    cells: int
    wrong: Prefix | None = None


def second_opinion(verifier: Verifier, scheme: Scheme, vocab: int, seconds: float = 600.0) -> Opinion:
    """Losslessness for all real p and q, cell by cell. Raises OutOfTime.

    >>> from theory.drafts.chain import Chain
    >>> from theory.verifiers import named
    >>> second_opinion(named("token"), Chain(1), 2).holds
    True
    """
    world, cells = World(vocab, scheme.depth, seconds), 0
    target, proposal = world.target, world.proposal
    for _ in world.answers.runs():
        emitted = Emission(target)
        stops = iteration(scheme, proposal, verifier, target, start=world.number(1))
        for weight, draft, node, row in stops:
            if verifier.carry is None:
                emitted.add(weight, node, row)
                continue
            following = verifier.carry(target, proposal, draft, node)
            for stop in _completed(weight, node, row, following, scheme.depth):
                emitted.add(*stop)
        cells += 1
        if (wrong := emitted.wrong_prefix()) is not None:
            return Opinion(False, cells, wrong[0])
    return Opinion(True, cells)


def second_comparison(
    wanted: str, a: Mean, b: Mean, vocab: int, scheme: Scheme, seconds: float = 600.0
) -> Opinion:
    """Whether mean a is "equal" to mean b, or "never below" it, cell by cell. Raises OutOfTime."""
    world, cells = World(vocab, scheme.depth, seconds), 0
    for _ in world.answers.runs():
        one = world.number(1)
        left, right = (
            sum((weight * value for weight, value in outcomes(mean(world), one)), one * 0)  # type: ignore[arg-type]
            for mean in (a, b)
        )
        cells += 1
        if not (left == right if wanted == "equal" else left >= right):
            return Opinion(False, cells)
    return Opinion(True, cells)


def _completed(
    weight: Number, node: Node, row: Row, following: Rows, depth: int
) -> Iterator[tuple[Number, Node, Row]]:
    # What comes out, continued by a target left behind up to the block's depth.
    if len(node.prefix) + 1 >= depth:
        yield weight, node, row
        return
    for token, mass in enumerate(row):
        if mass > 0:
            longer = Node((*node.prefix, token), None)
            yield from _completed(weight * mass, longer, following[longer.prefix], following, depth)


def _prefixes(vocab: int, depth: int) -> Iterable[Prefix]:
    return [prefix for length in range(depth + 1) for prefix in product(range(vocab), repeat=length)]


def _named(letter: str, vocab: int, prefix: Prefix, names: list[str]) -> list[str]:
    free = ["_".join((letter, *map(str, prefix), str(x))) for x in range(vocab - 1)]
    names += free
    return free
