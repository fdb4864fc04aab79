"""A second opinion: z3 alone, on the whole statement, one full cell at a time.

Shares nothing with the cells of `signs` but the verifier: the drafts and coins are enumerated by
`simulators`, the law is gathered and compared by `theory.emission`, and the numbers are quotients of
z3's own terms. Every comparison is answered by z3; where both answers are possible the whole run
is repeated for each. Slower by far: meant for two symbols and two tokens.
"""

from dataclasses import dataclass, field
from itertools import product
from time import monotonic
from typing import Any, ClassVar

import z3

from proofs_check.signs import OutOfTime
from simulators.enumerate import iteration
from theory.drafts import Scheme
from theory.emission import Emission
from theory.rows import Prefix, Row
from theory.table import Table
from theory.verifier import Verifier


class Term:
    """A quotient of z3 terms; the denominator is positive in the cell where it is used."""

    __slots__ = ("bottom", "top")
    __hash__ = None  # type: ignore[assignment]
    ask: ClassVar["Answers"]

    def __init__(self, top: Any, bottom: Any = None):
        self.top = z3.RealVal(int(top)) if isinstance(top, int) else top
        self.bottom = z3.RealVal(1) if bottom is None else bottom

    def _other(self, other: Any) -> "Term":
        return other if isinstance(other, Term) else type(self)(other)

    def _made(self, top: Any, bottom: Any) -> "Term":
        return type(self)(z3.simplify(top, som=True), z3.simplify(bottom, som=True))

    def __add__(self, other: Any) -> "Term":
        other = self._other(other)
        if z3.eq(self.bottom, other.bottom):
            return self._made(self.top + other.top, self.bottom)
        return self._made(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Term":
        other = self._other(other)
        return self + type(self)(-other.top, other.bottom)

    def __rsub__(self, other: Any) -> "Term":
        return self._other(other) - self

    def __mul__(self, other: Any) -> "Term":
        other = self._other(other)
        return self._made(self.top * other.top, self.bottom * other.bottom)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Term":
        other = self._other(other)
        if not other > 0:
            raise ZeroDivisionError("a divisor that is not positive")
        return self._made(self.top * other.bottom, self.bottom * other.top)

    def __lt__(self, other: Any) -> bool:
        return self.ask.whether((self - other).top < 0)

    def __gt__(self, other: Any) -> bool:
        return self.ask.whether((self - other).top > 0)

    def __ne__(self, other: object) -> bool:
        return self.ask.possible((self - other).top != 0)


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
    domain: list[Any] = []
    number = type("Term", (Term,), {"__slots__": ()})
    target = Table(vocab, {prefix: _row("p", vocab, prefix, number, domain) for prefix in _prefixes(vocab, scheme.depth)})
    proposal = Table(
        vocab, {prefix: _row("q", vocab, prefix, number, domain) for prefix in _prefixes(vocab, scheme.depth - 1)}
    )
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


def _row(letter: str, vocab: int, prefix: Prefix, number: type[Term], domain: list[Any]) -> Row:
    names = ["_".join((letter, *map(str, prefix), str(x))) for x in range(vocab - 1)]
    free: list[Any] = [z3.Real(name) for name in names]
    last = 1 - z3.Sum(free)
    domain += [entry >= 0 for entry in (*free, last)]
    return tuple(number(entry) for entry in (*free, last))
