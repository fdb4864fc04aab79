"""Theorems and the steps of their proofs, each a statement that the program checks.

The kinds of step:

* `always(formula, given)`: a statement about finitely many reals, such as the entries of one token, which
  z3 shows to have no exception;
* `summed(left, right)`: an identity after `total`, each positive part of a fresh, unknown mass;
* `algebra(left, right)`: an identity of rational functions, denominators not zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any

import sympy
import z3

from draftproof.proofs_check.induction.terms import ONE, least, total

CHECKED, ARGUMENT = "argument checked, not tied to the code", "argument only"
REACHED = "argument checked, verifiers run at every size"
"""The verdicts on a theorem that was written by hand and whose steps hold, on one without a step that a
program could check, and on one whose statements about verifiers are proved from their code.
"""

ROWS = "rows are non-negative and have mass 1; sums over the vocabulary are finite and linear"
"""What most proofs assume."""


@dataclass(frozen=True)
class Step:
    """A statement, and how the program checks it."""

    statement: str
    holds: Callable[[], bool]


@dataclass(frozen=True)
class Checked:
    """Every step with whether it holds; the theorem holds when all do."""

    steps: list[tuple[str, bool]]
    seconds: float

    @property
    def holds(self) -> bool:
        return all(outcome for _, outcome in self.steps)


@dataclass(frozen=True)
class Corollary:
    """What else a theorem's proof shows; its scope is the theorem's unless given."""

    key: str
    statement: str
    source: str
    scope: str = ""


@dataclass(frozen=True)
class Theorem:
    """A claim for every vocabulary and depth: what is assumed, the steps of its proof, and the verifiers
    that it is about. `key` is the name of the claim. Neither assumptions nor steps look at the verifiers'
    code; what the verifiers of `keeps` keep of a drafted token is proved from it.
    """

    key: str
    statement: str
    source: str
    assumed: Sequence[str]
    steps: Sequence[Step] = ()
    scope: str = "every chain"
    verifiers: Sequence[str] = ()
    keeps: Sequence[str] = ()
    corollaries: Sequence[Corollary] = ()

    @property
    def verdict(self) -> str:
        """The verdict if all steps hold."""
        return REACHED if self.keeps else CHECKED if self.steps else ARGUMENT

    def check(self) -> Checked:
        started = thread_time()
        outcomes = [(step.statement, step.holds()) for step in self.steps]
        return Checked(outcomes, round(thread_time() - started, 3))


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
