"""The steps that induction proofs are made of, and how each is checked.

The vocabulary is abstract: `p` and `q` stand for the entries p(x) and q(x) of one token, `pos(e)`
for the positive part, and `total` for the sum over all tokens, of which nothing is used but that
it is linear, and that rows have the masses they are given. The kinds of step:

* `every_token(left, right)`: an identity for each token, in every case of the signs inside `pos`;
* `summed(left, right)`: the same after `total`, each positive part of a fresh, unknown mass;
* `algebra(left, right)`: an identity of rational functions, denominators not zero;
* `always(formula)`: a statement about finitely many reals, which z3 shows to have no exception.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from time import thread_time
from typing import Any

import sympy
import z3

p, q = sympy.symbols("p q", nonnegative=True)
a = sympy.Symbol("a", nonnegative=True)
TOKEN = (p, q)
"""Symbols that differ from token to token; all others are the same for all."""

pos = sympy.Function("pos")
"""The positive part."""


ONE: Any = z3.RealVal(1)

ROWS = "rows are non-negative and have mass 1; sums over the vocabulary are finite and linear"
"""What most proofs assume."""


def reals(names: str) -> list[Any]:
    """z3's real variables of these names."""
    return list(z3.Reals(names))


def least(u: Any, v: Any) -> Any:
    """min(u, v) of two of z3's numbers."""
    return z3.If(u < v, u, v)


def plus(u: Any) -> Any:
    """(u)+ of one of z3's numbers."""
    return z3.If(u > 0, u, z3.RealVal(0))


def meet(u: Any, v: Any) -> Any:
    """min(u, v), written with the positive part."""
    return u - pos(u - v)


def cases(expression: Any) -> list[Any]:
    """The expression in every case of the signs of what stands inside `pos`.

    pos(-e) is pos(e) - e; cases that contradict each other are kept, which proves a little more.
    """
    parts = {_direction(part.args[0]) for part in sympy.sympify(expression).atoms(pos)}
    found = []
    for signs in product((True, False), repeat=len(parts)):
        chosen = dict(zip(sorted(parts, key=str), signs, strict=True))

        def value(e: Any, chosen: dict[Any, bool] = chosen) -> Any:
            direction = _direction(e)
            positive = chosen[direction] == (sympy.expand(e - direction) == 0)
            return e if positive else sympy.Integer(0)

        found.append(expression.replace(pos, value))
    return found


def _direction(e: Any) -> Any:
    # Of e and -e always the same one.
    e = sympy.expand(e)
    return min(e, sympy.expand(-e), key=sympy.default_sort_key)


def same_for_every_token(left: Any, right: Any) -> bool:
    """Whether left = right, whatever the signs inside `pos`.

    >>> same_for_every_token(meet(a * p, q) + pos(a * p - q), a * p)
    True
    """
    return all(sympy.simplify(case) == 0 for case in cases(sympy.sympify(left - right)))


def total(expression: Any) -> Any:
    """The sum over the vocabulary, by linearity: rows p and q have mass 1, a positive part has the
    unknown mass `[e]`, and [-e] = [e] - total(e).

    >>> total(pos(q - a * p)) - total(pos(a * p - q))
    1 - a
    """
    out = sympy.Integer(0)
    for term in sympy.Add.make_args(sympy.expand(_directed(expression))):
        token, rest = sympy.Integer(1), sympy.Integer(1)
        for factor in sympy.Mul.make_args(term):
            if factor.has(*TOKEN) or factor.has(pos):
                token *= factor
            else:
                rest *= factor
        if token in (p, q):
            out += rest
        elif isinstance(token, pos):
            out += rest * sympy.Symbol(f"[{token.args[0]}]", nonnegative=True)
        else:
            raise ValueError(f"no mass is known for {token}")
    return out


def _directed(expression: Any) -> Any:
    def value(e: Any) -> Any:
        direction = _direction(e)
        return pos(direction) if sympy.expand(e - direction) == 0 else pos(direction) + e

    return sympy.sympify(expression).replace(pos, value)


@dataclass(frozen=True)
class Step:
    """A statement, and how the program checks it."""

    statement: str
    holds: Callable[[], bool]


def every_token(statement: str, left: Any, right: Any) -> Step:
    """left = right for each token."""
    return Step(statement, lambda: same_for_every_token(left, right))


def summed(statement: str, left: Any, right: Any) -> Step:
    """total(left) = right, where right may hold totals."""
    return Step(statement, lambda: sympy.simplify(total(left) - right) == 0)


def algebra(statement: str, left: Any, right: Any) -> Step:
    """left = right as rational functions."""
    return Step(statement, lambda: sympy.simplify(left - right) == 0)


def always(statement: str, formula: Any, given: Sequence[Any] = ()) -> Step:
    """z3 finds no reals that satisfy all of `given` but not `formula`; "unknown" does not count."""

    def holds() -> bool:
        solver = z3.Solver()
        solver.set("timeout", 20_000)
        solver.add(*given, z3.Not(formula))
        return solver.check() == z3.unsat

    return Step(statement, holds)


def kept(statement: str, part: Any, whole: Any) -> Step:
    """What is drawn with mass `whole` and kept with min(1, part / whole) has the mass min(part, whole)."""
    formula = whole * least(ONE, part / whole) == least(part, whole)
    return always(statement, formula, [whole > 0, part >= 0])


@dataclass(frozen=True)
class Checked:
    """Every step with whether it holds; the theorem holds when all do."""

    steps: list[tuple[str, bool]]
    seconds: float

    @property
    def holds(self) -> bool:
        return all(outcome for _, outcome in self.steps)


@dataclass(frozen=True)
class Theorem:
    """A statement, what is assumed, the steps of its proof, and the verifiers that it is about."""

    name: str
    statement: str
    source: str
    assumed: Sequence[str]
    steps: Sequence[Step]
    verifiers: tuple[str, ...] = ()

    def check(self) -> Checked:
        started = thread_time()
        outcomes = [(step.statement, step.holds()) for step in self.steps]
        return Checked(outcomes, round(thread_time() - started, 3))
