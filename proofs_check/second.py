"""A second opinion: z3 alone, on the whole statement, one full cell at a time.

Shares nothing with the cells of `signs` but the verifier: the drafts and coins are enumerated by
`simulators`, the law is gathered and compared by `theory.emission`, and the numbers are quotients of
sympy's own polynomials. Every comparison is answered by z3; where both answers are possible the whole
run is repeated for each. Slower by far: meant for two symbols and two tokens.
"""

from dataclasses import dataclass, field
from itertools import product
from time import monotonic
from typing import Any, ClassVar

import sympy
import sympy.polys.fields
import z3

from proofs_check.solver import OutOfTime
from simulators.enumerate import iteration
from theory.drafts import Scheme
from theory.emission import Emission
from theory.rows import Prefix, Row
from theory.table import Table
from theory.verifier import Verifier


class Term:
    """A rational function in sympy's own arithmetic; its denominator is not zero where it is used."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]
    ask: ClassVar["Answers"]
    functions: ClassVar[Any]

    def __init__(self, value: Any):
        self.value = self.functions(int(value)) if isinstance(value, int) else value

    def _other(self, other: Any) -> Any:
        return other.value if isinstance(other, Term) else self.functions(int(other))

    def __add__(self, other: Any) -> "Term":
        return type(self)(self.value + self._other(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Term":
        return type(self)(self.value - self._other(other))

    def __rsub__(self, other: Any) -> "Term":
        return type(self)(self._other(other) - self.value)

    def __mul__(self, other: Any) -> "Term":
        return type(self)(self.value * self._other(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Term":
        other = type(self)(self._other(other))
        if not other != 0:
            raise ZeroDivisionError("a verifier divides by zero")
        return type(self)(self.value / other.value)

    def __lt__(self, other: Any) -> bool:
        return self.ask.whether(self._sign(other) < 0)

    def __gt__(self, other: Any) -> bool:
        return self.ask.whether(self._sign(other) > 0)

    def __ne__(self, other: object) -> bool:
        difference = self.value - self._other(other)
        return bool(difference) and self.ask.whether(_z3(difference.numer) != 0)

    def _sign(self, other: Any) -> Any:
        difference = self.value - self._other(other)
        return _z3(difference.numer) * _z3(difference.denom)


@dataclass
class Answers:
    """The comparisons answered so far in one run, and those still to be answered the other way."""

    domain: list[Any]
    deadline: float
    script: list[bool] = field(default_factory=list)
    made: list[bool] = field(default_factory=list)
    waiting: list[list[bool]] = field(default_factory=list)

    def start(self, script: list[bool]) -> None:
        self.script, self.made = script, []
        self.solver = z3.SolverFor("QF_NRA")
        self.solver.set("timeout", 20_000)
        self.solver.add(*self.domain)

    def whether(self, condition: Any) -> bool:
        """The scripted answer; past the script yes where possible, with no kept for later if possible too."""
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return z3.is_true(condition)
        if len(self.made) < len(self.script):
            answer = self.script[len(self.made)]
        else:
            answer = self.possible(condition)
            if answer and self.possible(z3.Not(condition)):
                self.waiting.append([*self.made, False])
        self.made.append(answer)
        self.solver.add(condition if answer else z3.Not(condition))
        return answer

    def possible(self, condition: Any) -> bool:
        """Whether z3 does not rule the condition out: "unknown" is possible."""
        if monotonic() > self.deadline:
            raise OutOfTime
        return self.solver.check(condition) != z3.unsat


@dataclass(frozen=True)
class Opinion:
    """Whether every full cell has the target's law, and how many there are."""

    holds: bool
    cells: int
    wrong: Prefix | None = None


def second_opinion(verifier: Verifier, scheme: Scheme, vocab: int, seconds: float = 600.0) -> Opinion:
    """z3's own verdict on losslessness for all real p and q. Raises OutOfTime.

    >>> from theory.drafts.chain import Chain
    >>> from theory.verifiers import named
    >>> second_opinion(named("token"), Chain(1), 2).holds
    True
    """
    names: list[str] = []
    rows = {
        letter: {prefix: _named(letter, vocab, prefix, names) for prefix in _prefixes(vocab, depth)}
        for letter, depth in (("p", scheme.depth), ("q", scheme.depth - 1))
    }
    functions, *gens = sympy.polys.fields.field(names, sympy.QQ)
    number = type("Term", (Term,), {"__slots__": (), "functions": functions})
    value = dict(zip(names, gens, strict=True))
    domain: list[Any] = []

    def table(letter: str) -> Table:
        return Table(vocab, {prefix: row(free) for prefix, free in rows[letter].items()})

    def row(free: list[str]) -> Row:
        entries = [value[name] for name in free]
        entries.append(functions(1) - sum(entries, functions(0)))
        domain.extend(_z3(entry.numer) >= 0 for entry in entries)
        return tuple(map(number, entries))

    target, proposal = table("p"), table("q")
    number.ask = answers = Answers(domain, monotonic() + seconds, waiting=[[]])
    cells = 0
    while answers.waiting:
        answers.start(answers.waiting.pop())
        emitted = Emission(target)
        for weight, _, node, row in iteration(scheme, proposal, verifier, target, start=number(1)):
            emitted.add(weight, node, row)
        cells += 1
        if (wrong := emitted.wrong_prefix()) is not None:
            return Opinion(False, cells, wrong[0])
    return Opinion(True, cells)


def _prefixes(vocab: int, depth: int) -> list[Prefix]:
    return [prefix for length in range(depth + 1) for prefix in product(range(vocab), repeat=length)]


def _named(letter: str, vocab: int, prefix: Prefix, names: list[str]) -> list[str]:
    free = ["_".join((letter, *map(str, prefix), str(x))) for x in range(vocab - 1)]
    names += free
    return free


def _z3(polynomial: Any) -> Any:
    terms = []
    for powers, coefficient in polynomial.terms():
        factors = [
            z3.Real(str(gen))
            for gen, power in zip(polynomial.ring.gens, powers, strict=True)
            for _ in range(power)
        ]
        terms.append(z3.Product([z3.RealVal(str(coefficient)), *factors]))
    return z3.Sum([z3.RealVal(0), *terms])
