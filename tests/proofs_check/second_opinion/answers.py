"""The answers of the second opinion: which signs polynomials have in one run, and which runs are left."""

from collections.abc import Iterator
from itertools import product
from math import prod
from time import thread_time
from typing import Any, TypeAlias

import z3

from draftproof.proofs_check.cells.solver import OutOfTime
from tests.proofs_check.second_opinion.factors import Factors, Point

Signs: TypeAlias = frozenset[int]
ANY: Signs = frozenset((-1, 0, 1))

HOLDS = {
    frozenset((-1,)): lambda e: e < 0,
    frozenset((0,)): lambda e: e == 0,
    frozenset((1,)): lambda e: e > 0,
    frozenset((-1, 0)): lambda e: e <= 0,
    frozenset((0, 1)): lambda e: e >= 0,
    frozenset((-1, 1)): lambda e: e != 0,
    ANY: lambda e: z3.BoolVal(True),
}


class Answers:
    """Facts are signs of irreducible polynomials, each known by its place. A run follows a script of
    facts and, past it, the point it was given, if one is known; every answer that z3 does not rule out
    starts a run of its own.
    """

    def __init__(self, entries: list[Any], names: list[str], vocab: int, deadline: float):
        self.deadline = deadline
        self.facts: dict[int, Signs] = {}
        self._polynomials = Factors(names)
        self._factors: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        self._found: dict[Any, tuple[bool, Point | None]] = {}
        self._domain = entries[0].ring.domain
        self._never_negative = [self._polynomials.of(entry) for entry in entries]
        # Somewhere inside, and nowhere special.
        first = {name: self._domain(3 + (7 * n) % 11, 41 * (vocab - 1)) for n, name in enumerate(names)}
        self._waiting: list[tuple[list[tuple[int, Signs]], Point | None]] = [([], first)]

    def runs(self) -> Iterator[None]:
        """One run after another, until none is left."""
        while self._waiting:
            self._script, self._point = self._waiting.pop()
            self._made: list[tuple[int, Signs]] = []
            self.facts = {}
            for sign, factors in self._never_negative:
                for factor, _ in factors:
                    self.facts[factor] = frozenset((0, sign))
            yield

    def sign_in(self, wanted: set[int], at: int, number: Any) -> bool:
        """Whether the sign of a rational function, known by its place, lies in `wanted`."""
        if at not in self._factors:
            self._factors[at] = self._polynomials.of(number.numer, number.denom)
        constant, factors = self._factors[at]
        while True:
            known = [(self.facts.get(factor, ANY), odd) for factor, odd in factors]
            sets = [signs if odd else frozenset(map(abs, signs)) for signs, odd in known]
            possible = {constant * prod(signs) for signs in product(*sets)}
            if possible <= wanted:
                return True
            if not possible & wanted:
                return False
            self._decide(wanted, constant, factors, sets)

    def _decide(self, wanted: set[int], constant: int, factors: list, sets: list[Signs]) -> None:
        # Splits the signs of the first factor that is open.
        at = next(n for n, signs in enumerate(sets) if len(signs) > 1)
        factor, odd = factors[at]
        known = self.facts.get(factor, ANY)
        if all(len(signs) == 1 for n, signs in enumerate(sets) if n != at):
            rest = constant * prod(next(iter(signs)) for n, signs in enumerate(sets) if n != at)
            yes = frozenset(s for s in known if rest * (s if odd else abs(s)) in wanted)
        else:
            yes = known & {1} or known & {-1}
        self._split(factor, yes, known - yes)

    def _split(self, factor: int, yes: Signs, no: Signs) -> None:
        if len(self._made) < len(self._script):
            chosen = self._script[len(self._made)][1]
        elif self._point is not None:
            chosen = yes if self._polynomials.sign(factor, self._point) in yes else no
            other = no if chosen == yes else yes
            possible, point = self._find(factor, other)
            if possible:
                self._waiting.append(([*self._made, (factor, other)], point))
        else:
            possible, point = self._find(factor, yes)
            chosen = yes if possible else no
            if possible:
                later, later_point = self._find(factor, no)
                if later:
                    self._waiting.append(([*self._made, (factor, no)], later_point))
                self._point = point
        self._made.append((factor, chosen))
        self.facts[factor] = chosen

    def _find(self, factor: int, signs: Signs) -> tuple[bool, Point | None]:
        # Whether z3 leaves it possible beside the facts that share its variables, and a point if it has one.
        near = [*self._near(factor), (factor, signs)]
        key = frozenset(near)
        if key not in self._found:
            if thread_time() > self.deadline:
                raise OutOfTime
            solver = z3.SolverFor("QF_NRA")
            solver.set("timeout", 20_000)
            for each, allowed in near:
                solver.add(HOLDS[allowed](self._polynomials.expression(each)))
            answer = solver.check()
            self._found[key] = answer != z3.unsat, self._model(solver) if answer == z3.sat else None
        possible, found = self._found[key]
        point = None
        if found is not None and self._point is not None:
            point = {**self._point, **found}
            if any(self._polynomials.sign(each, point) not in allowed for each, allowed in near):
                point = None
        return possible, point

    def _model(self, solver: Any) -> Point | None:
        model: Any = solver.model()
        point: Point = {}
        for variable in model:
            if variable.arity():
                continue
            value = model[variable]
            if z3.is_algebraic_value(value):
                return None
            point[variable.name()] = self._domain(value.numerator_as_long(), value.denominator_as_long())
        return point

    def _near(self, factor: int) -> list[tuple[int, Signs]]:
        # The facts that share variables with the factor, or with one that does, and so on.
        names = self._polynomials.variables(factor)
        while True:
            near = [
                fact
                for fact in self.facts.items()
                if not names.isdisjoint(self._polynomials.variables(fact[0]))
            ]
            reached = names.union(*(self._polynomials.variables(each) for each, _ in near))
            if reached == names:
                return near
            names = reached
