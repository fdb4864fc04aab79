"""The answers of the second opinion: which signs polynomials have in one run, and which runs are left."""

from collections.abc import Iterator
from itertools import product
from math import prod
from time import thread_time
from typing import Any, TypeAlias

import z3

from proofs_check.cells.solver import OutOfTime

Signs: TypeAlias = frozenset[int]
ANY: Signs = frozenset((-1, 0, 1))
Point: TypeAlias = dict[str, Any]

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
        self.names, self.deadline = names, deadline
        self.facts: dict[int, Signs] = {}
        self._polynomials: list[Any] = []
        self._places: dict[Any, int] = {}
        self._factors: dict[int, tuple[int, list[tuple[int, int]]]] = {}
        self._z3: dict[int, Any] = {}
        self._uses: dict[int, frozenset[int]] = {}
        self._found: dict[Any, tuple[bool, Point | None]] = {}
        self._domain = entries[0].ring.domain
        self._never_negative = [self._factored(entry) for entry in entries]
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

    def _factored(self, *polynomials: Any) -> tuple[int, list[tuple[int, int]]]:
        # The sign of the constant, and irreducible factors with whether their powers are odd.
        sign, factors = 1, []
        for polynomial in polynomials:
            if not polynomial:
                return 0, []
            constant, found = polynomial.factor_list()
            sign *= 1 if constant > 0 else -1
            factors += [(self._place(factor), power % 2) for factor, power in found]
        return sign, factors

    def _place(self, factor: Any) -> int:
        if factor not in self._places:
            self._places[factor] = len(self._polynomials)
            self._polynomials.append(factor)
        return self._places[factor]

    def sign_in(self, wanted: set[int], at: int, number: Any) -> bool:
        """Whether the sign of a rational function, known by its place, lies in `wanted`."""
        if at not in self._factors:
            self._factors[at] = self._factored(number.numer, number.denom)
        constant, factors = self._factors[at]
        while True:
            sets = [self._powered(self.facts.get(factor, ANY), odd) for factor, odd in factors]
            possible = {constant * _product(signs) for signs in product(*sets)}
            if possible <= wanted:
                return True
            if not possible & wanted:
                return False
            self._decide(wanted, constant, factors, sets)

    def _powered(self, signs: Signs, odd: int) -> Signs:
        return signs if odd else frozenset(map(abs, signs))

    def _decide(self, wanted: set[int], constant: int, factors: list, sets: list[Signs]) -> None:
        # Splits the signs of the first factor that is open.
        at = next(n for n, signs in enumerate(sets) if len(signs) > 1)
        factor, odd = factors[at]
        known = self.facts.get(factor, ANY)
        if all(len(signs) == 1 for n, signs in enumerate(sets) if n != at):
            rest = constant * _product(next(iter(signs)) for n, signs in enumerate(sets) if n != at)
            yes = frozenset(s for s in known if rest * (s if odd else abs(s)) in wanted)
        else:
            yes = known & {1} or known & {-1}
        self._split(factor, yes, known - yes)

    def _split(self, factor: int, yes: Signs, no: Signs) -> None:
        if len(self._made) < len(self._script):
            chosen = self._script[len(self._made)][1]
        elif self._point is not None:
            chosen = yes if self._sign(factor, self._point) in yes else no
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

    def _sign(self, factor: int, point: Point) -> int:
        values = [point[name] for name in self.names]
        value = sum(
            prod((v**power for v, power in zip(values, powers, strict=True) if power), start=coefficient)
            for powers, coefficient in self._polynomials[factor].terms()
        )
        return (value > 0) - (value < 0)

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
                solver.add(HOLDS[allowed](self._expression(each)))
            answer = solver.check()
            self._found[key] = answer != z3.unsat, self._model(solver) if answer == z3.sat else None
        possible, found = self._found[key]
        point = None
        if found is not None and self._point is not None:
            point = {**self._point, **found}
            if any(self._sign(each, point) not in allowed for each, allowed in near):
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
        used, near, left = set(self._variables(factor)), [], [f for f in self.facts.items() if f[0] != factor]
        grown = True
        while grown:
            grown, rest = False, []
            for fact in left:
                if used.isdisjoint(self._variables(fact[0])):
                    rest.append(fact)
                else:
                    near.append(fact)
                    used |= self._variables(fact[0])
                    grown = True
            left = rest
        known = self.facts.get(factor, ANY)
        return near if known == ANY else [*near, (factor, known)]

    def _variables(self, factor: int) -> frozenset[int]:
        if factor not in self._uses:
            polynomial = self._polynomials[factor]
            self._uses[factor] = frozenset(
                n for powers in polynomial for n, power in enumerate(powers) if power
            )
        return self._uses[factor]

    def _expression(self, factor: int) -> Any:
        if factor not in self._z3:
            terms = []
            for powers, coefficient in self._polynomials[factor].terms():
                variables = [
                    z3.Real(name)
                    for name, power in zip(self.names, powers, strict=True)
                    for _ in range(power)
                ]
                terms.append(z3.Product([z3.RealVal(str(coefficient)), *variables]))
            self._z3[factor] = z3.Sum([z3.RealVal(0), *terms])
        return self._z3[factor]


def _product(signs: Any) -> int:
    out = 1
    for sign in signs:
        out *= sign
    return out
