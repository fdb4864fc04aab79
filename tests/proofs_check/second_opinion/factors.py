"""The irreducible polynomials of the second opinion, each known by its place."""

from math import prod
from typing import Any, TypeAlias

import z3

Point: TypeAlias = dict[str, Any]
"""Variable name -> rational."""


class Factors:
    """Irreducible polynomials, sympy's, in the variables of these names."""

    def __init__(self, names: list[str]):
        self.names = names
        self._polynomials: list[Any] = []
        self._places: dict[Any, int] = {}
        self._z3: dict[int, Any] = {}
        self._uses: dict[int, frozenset[int]] = {}

    def of(self, *polynomials: Any) -> tuple[int, list[tuple[int, int]]]:
        """The sign of the product's constant, and its factors with whether their powers are odd."""
        sign, factors = 1, []
        for polynomial in polynomials:
            if not polynomial:
                return 0, []
            constant, found = polynomial.factor_list()
            sign *= 1 if constant > 0 else -1
            factors += [(self._place(factor), power % 2) for factor, power in found]
        return sign, factors

    def sign(self, factor: int, point: Point) -> int:
        """-1, 0 or 1: the factor's sign at the point."""
        values = [point[name] for name in self.names]
        value = sum(
            prod((v**power for v, power in zip(values, powers, strict=True) if power), start=coefficient)
            for powers, coefficient in self._polynomials[factor].terms()
        )
        return (value > 0) - (value < 0)

    def variables(self, factor: int) -> frozenset[int]:
        """The places of the variables that the factor has."""
        if factor not in self._uses:
            polynomial = self._polynomials[factor]
            self._uses[factor] = frozenset(
                n for powers in polynomial for n, power in enumerate(powers) if power
            )
        return self._uses[factor]

    def expression(self, factor: int) -> Any:
        """The factor in z3's terms."""
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

    def _place(self, factor: Any) -> int:
        if factor not in self._places:
            self._places[factor] = len(self._polynomials)
            self._polynomials.append(factor)
        return self._places[factor]
