"""The polynomials of a proof, and whether some real numbers give them the signs wanted: z3 decides."""

from collections.abc import Iterable
from ctypes import ArgumentError
from time import thread_time
from typing import Any

import z3
from flint import fmpq, fmpq_mpoly

from draftproof.proofs_check.cells.symbol import ANY, NEGATIVE, POSITIVE, ZERO, flip

CONDITIONS = {
    0: lambda e: z3.BoolVal(False),
    NEGATIVE: lambda e: e < 0,
    ZERO: lambda e: e == 0,
    POSITIVE: lambda e: e > 0,
    NEGATIVE | ZERO: lambda e: e <= 0,
    ZERO | POSITIVE: lambda e: e >= 0,
    NEGATIVE | POSITIVE: lambda e: e != 0,
}
MILLISECONDS = 5000  # time limit of one question to z3, unless another is given


Point = dict[str, fmpq]  # variable name -> rational


class OutOfTime(Exception):
    """The deadline, a CPU time of this thread, has passed."""


class Solver:
    """Polynomials by their keys, with variables and factors, and z3's answers about their signs, which are
    kept. After the deadline a new question raises OutOfTime.
    """

    def __init__(self, deadline: float = float("inf"), milliseconds: int = MILLISECONDS):
        self.deadline = deadline
        self.milliseconds = milliseconds
        self.polynomials: dict[str, fmpq_mpoly] = {}
        self.names: dict[str, frozenset[str]] = {}
        self._factors: dict[str, list[tuple[str, int]]] = {}
        self._expressions: dict[tuple[str, bool], Any] = {}
        self._answers: dict[frozenset[tuple[str, int]], Point | None] = {}

    def canonical(self, polynomial: fmpq_mpoly) -> tuple[str, bool]:
        """The key of the monic polynomial, and whether the polynomial is negative times that one."""
        lead = polynomial.leading_coefficient()
        monic = polynomial / lead if lead != 1 else polynomial
        key = repr(monic)
        if key not in self.polynomials:
            self.polynomials[key] = monic
            unused = set(monic.unused_gens())
            self.names[key] = frozenset(name for name in monic.context().names() if name not in unused)
        return key, lead < 0

    def fact(self, polynomial: fmpq_mpoly, signs: int) -> tuple[str, int]:
        """The key of the monic polynomial, and the signs that it has where the polynomial has these."""
        key, flipped = self.canonical(polynomial)
        return key, flip(signs) if flipped else signs

    def factors(self, key: str) -> list[tuple[str, int]]:
        """The irreducible factors of a polynomial, with their powers."""
        if key not in self._factors:
            _, found = self.polynomials[key].factor()
            self._factors[key] = [(self.canonical(factor)[0], int(power)) for factor, power in found]
        return self._factors[key]

    def find(self, facts: Iterable[tuple[str, int]]) -> Point | None:
        """A point where the polynomials of all facts (key, set of signs) have such signs.

        {} when there are such points but none that is rational was found, or z3 could not tell; None
        when z3 proved that there is none.
        """
        key = frozenset(facts)
        if key not in self._answers:
            self.check_time()
            empty = self.empty_by_sums(sorted(key))
            answer, model = (z3.unsat, {}) if empty else self.model(sorted(key))
            point = {name: rational(value, 12) for name, value in model.items()}
            self._answers[key] = None if answer == z3.unsat else point
        return self._answers[key]

    def model(
        self, facts: Iterable[tuple[str, int]], milliseconds: int | None = None, products: bool = True
    ) -> tuple[Any, dict[str, Any]]:
        """z3's answer to whether the facts can hold together, with the values of its model if it has one.
        Without products, every monomial is an unknown of its own.
        """
        solver = z3.SolverFor("QF_NRA" if products else "QF_LRA")
        solver.set("timeout", self.milliseconds if milliseconds is None else milliseconds)
        solver.set("ctrl_c", False)  # Ctrl-C is Python's
        for key, signs in facts:
            if signs != ANY:
                if (key, products) not in self._expressions:
                    self._expressions[key, products] = expression(self.polynomials[key], products)
                solver.add(CONDITIONS[signs](self._expressions[key, products]))
        try:
            answer = solver.check()
        except ArgumentError:  # what Ctrl-C becomes on its way through z3's bindings
            raise KeyboardInterrupt from None
        if answer != z3.sat:
            return answer, {}
        model: Any = solver.model()
        return answer, {variable.name(): model[variable] for variable in model if not variable.arity()}

    def empty_by_sums(self, facts: Iterable[tuple[str, int]]) -> bool:
        """Whether z3 shows that the facts exclude each other even where every monomial is an unknown of its
        own: all facts are linear then, so that the answer comes at once.
        """
        return self.model(facts, products=False)[0] == z3.unsat

    def check_time(self) -> None:
        """Raises OutOfTime after the deadline."""
        if thread_time() > self.deadline:
            raise OutOfTime


def rational(number: Any, digits: int) -> fmpq:
    """A z3 number as a rational, of an irrational one that many digits."""
    if z3.is_algebraic_value(number):
        number = number.approx(digits)
    fraction = number.as_fraction()
    return fmpq(fraction.numerator, fraction.denominator)


def expression(polynomial: fmpq_mpoly, products: bool = True) -> Any:
    """The polynomial in z3's terms; without products, every monomial is an unknown of its own."""
    names = polynomial.context().names()
    terms = []
    for powers, coefficient in polynomial.terms():
        unknowns = [name for name, power in zip(names, powers, strict=True) for _ in range(power)]
        if unknowns and not products:
            unknowns = ["*".join(unknowns)]
        factors: list[Any] = [z3.RealVal(str(coefficient))] if coefficient != 1 else []
        factors += map(z3.Real, unknowns)
        terms.append(z3.Product(factors) if factors else z3.RealVal(1))
    return z3.Sum(terms)
