"""Whether some real numbers have given signs: z3 decides, and "unknown" is no answer."""

from collections.abc import Iterable
from ctypes import ArgumentError
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

import z3
from flint import fmpq, fmpq_mpoly

from draftproof.proofs_check.cells.signset import ANY, NEGATIVE, POSITIVE, ZERO

Fact = tuple[str, int]
"""A polynomial, spelled, and the set of signs it may have."""

CONDITIONS = {
    NEGATIVE: lambda e: e < 0,
    ZERO: lambda e: e == 0,
    POSITIVE: lambda e: e > 0,
    NEGATIVE | ZERO: lambda e: e <= 0,
    ZERO | POSITIVE: lambda e: e >= 0,
    NEGATIVE | POSITIVE: lambda e: e != 0,
}


class OutOfTime(Exception):
    """The deadline, a CPU time of this thread, has passed."""


@dataclass
class Solver:
    """Answers are kept: the same question met in another cell costs nothing. After the deadline
    nothing new is asked: OutOfTime is raised.

    `find` returns a point (variable name -> rational) where all facts hold, {} when there are such
    points but no rational one was found or z3 could not tell, None when it is proved there is none.
    """

    milliseconds: int = 5000
    deadline: float = float("inf")
    asked: int = 0
    unknown: int = 0
    _polynomials: dict[str, Any] = field(default_factory=dict)
    _answers: dict[frozenset[Fact], dict[str, fmpq] | None] = field(default_factory=dict)

    def find(self, facts: Iterable[Fact], polynomials: dict[str, fmpq_mpoly]) -> dict[str, fmpq] | None:
        key = frozenset(facts)
        if key not in self._answers:
            self.check_time()
            try:
                self._answers[key] = self._solve(key, polynomials)
            except ArgumentError:  # what Ctrl-C becomes on its way through z3's bindings
                raise KeyboardInterrupt from None
        return self._answers[key]

    def check_time(self) -> None:
        """Raises OutOfTime after the deadline."""
        if thread_time() > self.deadline:
            raise OutOfTime

    def _solve(self, facts: frozenset[Fact], polynomials: dict[str, fmpq_mpoly]) -> dict[str, fmpq] | None:
        self.asked += 1
        solver = z3.SolverFor("QF_NRA")
        solver.set("timeout", self.milliseconds)
        solver.set("ctrl_c", False)  # Ctrl-C is Python's
        for spelled, signs in sorted(facts):
            if signs != ANY:
                if spelled not in self._polynomials:
                    self._polynomials[spelled] = expression(polynomials[spelled])
                solver.add(CONDITIONS[signs](self._polynomials[spelled]))
        answer = solver.check()
        if answer == z3.unsat:
            return None
        if answer != z3.sat:
            self.unknown += 1
            return {}
        model: Any = solver.model()
        found: dict[str, fmpq] = {}
        for variable in model:
            if variable.arity():
                continue
            value = model[variable]
            if z3.is_algebraic_value(value):
                value = value.approx(12)
            fraction = value.as_fraction()
            found[variable.name()] = fmpq(fraction.numerator, fraction.denominator)
        return found


def expression(polynomial: fmpq_mpoly) -> Any:
    """The polynomial in z3's terms."""
    names = polynomial.context().names()
    terms = []
    for powers, coefficient in polynomial.terms():
        factors = [z3.RealVal(str(coefficient))] if coefficient != 1 else []
        factors += [z3.Real(name) for name, power in zip(names, powers, strict=True) for _ in range(power)]
        terms.append(z3.Product(factors) if factors else z3.RealVal(1))
    return z3.Sum(terms)
