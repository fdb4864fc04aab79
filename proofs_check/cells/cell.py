"""A cell: the part of the domain where some polynomials have known signs."""

from hashlib import sha256

from flint import fmpq, fmpq_mpoly

from draftproof.proofs_check.cells.book import Book
from draftproof.proofs_check.cells.polynomials import eliminate, put
from draftproof.proofs_check.cells.signset import ANY, NEGATIVE, POSITIVE, ZERO, flip, raised, sign, times
from draftproof.proofs_check.cells.symbol import Symbol


class Cut(Exception):
    """A comparison needs to know whether the sign of `polynomial` lies in `signs`."""

    def __init__(self, polynomial: fmpq_mpoly, signs: int):
        super().__init__("the cell has to be cut")
        self.polynomial = polynomial
        self.signs = signs


class Cell:
    """Facts (spelled polynomial -> set of signs), what the linear equalities among them substitute,
    and, where one is known, a rational point inside. Never changed once made.
    """

    __slots__ = ("book", "equal", "facts", "point")

    def __init__(
        self,
        book: Book,
        facts: dict[str, int],
        equal: tuple[tuple[str, fmpq_mpoly], ...] = (),
        point: dict[str, fmpq] | None = None,
    ):
        self.book, self.facts, self.equal, self.point = book, facts, equal, point

    @property
    def key(self) -> str:
        """A name for what is known in the cell, the same in every run."""
        equal = [(name, str(value)) for name, value in self.equal]
        return sha256(repr((sorted(self.facts.items()), equal)).encode()).hexdigest()[:24]

    def reduce(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """The polynomial with the cell's linear equalities put in."""
        if self.equal and not polynomial.is_constant():
            for name, value in self.equal:
                polynomial = put(polynomial, name, value)
        return polynomial

    def signs(self, polynomial: fmpq_mpoly) -> int:
        """The signs that the polynomial may have by what is known of its factors."""
        return self._signs(self.reduce(polynomial))

    def within(self, wanted: int, *product: fmpq_mpoly) -> bool:
        """Whether the sign of the product lies in `wanted`; raises Cut when that is not known."""
        known, open_ = POSITIVE, []
        for polynomial in map(self.reduce, product):
            signs = self._signs(polynomial)
            if signs in (NEGATIVE, ZERO, POSITIVE):
                known = times(known, signs)
                continue
            key, flipped = self.book.spell(polynomial)
            known = flip(known) if flipped else known
            open_ += self.book.factors(key)
        possible = known
        for key, power in open_:
            possible = times(possible, raised(self.facts.get(key, ANY), power))
        if not possible & ~wanted:
            return True
        if not possible & wanted:
            return False
        undecided = []
        for key, power in open_:
            signs = self.facts.get(key, ANY)
            if signs in (NEGATIVE, ZERO, POSITIVE):
                known = times(known, raised(signs, power))
            else:
                undecided.append((key, power))
        key, power = undecided[0]
        if len(undecided) == 1 and power == 1:
            raise Cut(self.book.polynomials[key], flip(wanted) if known == NEGATIVE else wanted)
        raise Cut(self.book.polynomials[key], POSITIVE if self.facts.get(key, ANY) & POSITIVE else NEGATIVE)

    def agree(self, a: Symbol, b: Symbol) -> bool:
        """Whether a and b are the same on the cell, by its equalities; a and b are defined on it."""
        return self.vanishes(a.top * b.bottom - b.top * a.bottom)

    def vanishes(self, polynomial: fmpq_mpoly) -> bool:
        """Whether the polynomial is zero on the cell by its equalities: a known factor, or elimination.

        An equality c v + b = 0 with c not zero on the cell gives v; times a power of c, the
        polynomial is one without v. No is only "not found".
        """
        polynomial = self.reduce(polynomial)
        if self._signs(polynomial) == ZERO:
            return True
        for key in self.facts:
            equation = self.book.polynomials[key]
            if self._signs(equation) == ZERO:
                if not divmod(polynomial, equation)[1]:
                    return True
                for at, degree in enumerate(equation.degrees()):
                    if degree == 1 and polynomial.degrees()[at]:
                        slope = equation.derivative(at)
                        if not self.signs(slope) & ZERO:
                            polynomial = eliminate(polynomial, equation, slope, at)
                            break
                if not polynomial:
                    return True
        return False

    def defined(self, a: Symbol) -> bool:
        """Whether the denominator is known not to vanish."""
        return not self.signs(a.bottom) & ZERO

    def _signs(self, polynomial: fmpq_mpoly) -> int:
        if not polynomial:
            return ZERO
        if polynomial.is_constant():
            return sign(polynomial.leading_coefficient())
        key, flipped = self.book.spell(polynomial)
        known = POSITIVE
        for factor, power in self.book.factors(key):
            known = times(known, raised(self.facts.get(factor, ANY), power))
        known &= self.facts.get(key, ANY)
        return flip(known) if flipped else known
