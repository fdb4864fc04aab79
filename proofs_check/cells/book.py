"""What is the same in all cells of a proof: spellings, factors, the solver."""

from typing import NamedTuple

from flint import fmpq_mpoly

from draftproof.proofs_check.cells.solver import Solver


class Spelled(NamedTuple):
    """A polynomial up to a positive factor: monic, or minus a monic one."""

    key: str
    flipped: bool


class Book:
    """What is the same in all cells: spellings, factors, the solver."""

    def __init__(self, solver: Solver):
        self.solver = solver
        self.polynomials: dict[str, fmpq_mpoly] = {}
        self.names: dict[str, frozenset[str]] = {}
        self._factors: dict[str, list[tuple[str, int]]] = {}

    def spell(self, polynomial: fmpq_mpoly) -> Spelled:
        lead = polynomial.leading_coefficient()
        monic = polynomial / lead if lead != 1 else polynomial
        key = repr(monic)
        if key not in self.polynomials:
            self.polynomials[key] = monic
            unused = set(monic.unused_gens())
            self.names[key] = frozenset(name for name in monic.context().names() if name not in unused)
        return Spelled(key, lead < 0)

    def factors(self, key: str) -> list[tuple[str, int]]:
        """The irreducible factors of a spelled polynomial, with their powers."""
        if key not in self._factors:
            _, found = self.polynomials[key].factor()
            self._factors[key] = [(self.spell(factor).key, int(power)) for factor, power in found]
        return self._factors[key]
