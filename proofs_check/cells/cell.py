"""A cell: the part of the domain where some polynomials have known signs."""

from hashlib import sha256

from flint import fmpq, fmpq_mpoly

from proofs_check.cells.book import Book
from proofs_check.cells.polynomials import eliminate, put, solve, value
from proofs_check.cells.signset import ANY, NEGATIVE, POSITIVE, ZERO, flip, raised, sign, times
from proofs_check.cells.symbol import Symbol


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

    def sides(self, polynomial: fmpq_mpoly, signs: int) -> tuple["Cell | None", "Cell | None"]:
        """The parts of the cell where the sign lies in `signs` and where it does not; None if empty."""
        polynomial = self.reduce(polynomial)
        if polynomial.is_constant():
            inside = sign(polynomial.leading_coefficient() if polynomial else fmpq(0)) & signs
            return (self, None) if inside else (None, self)
        key, flipped = self.book.spell(polynomial)
        signs = flip(signs) if flipped else signs
        known = self.facts.get(key, ANY)
        yes, no = known & signs, known & ~signs
        if not yes or not no:
            return (self if yes else None), (self if no else None)
        there = 0 if self.point is None else sign(value(self.book.polynomials[key], self.point))
        parts = self._part(key, yes, there), self._part(key, no, there)
        if parts == (None, None):  # the cell is empty, which z3 had not seen before: anything is true of it
            return self._with(key, yes, None), None
        return parts

    def empty(self, polynomial: fmpq_mpoly, signs: int) -> bool:
        """Whether it is proved that nowhere in the cell the sign lies in `signs`."""
        yes, _ = self.sides(polynomial, signs)
        return yes is None

    def agree(self, a: Symbol, b: Symbol) -> bool:
        """Whether a and b are the same on the cell, by its equalities; a and b are defined on it."""
        difference = self.reduce(a.top * b.bottom - b.top * a.bottom)
        return self.vanishes(difference)

    def vanishes(self, polynomial: fmpq_mpoly) -> bool:
        """Whether the polynomial is zero on the cell by its equalities: a known factor, or elimination.

        An equality c v + b = 0 with c not zero on the cell gives v; times a power of c, the
        polynomial is one without v. No is only "not found".
        """
        if not polynomial or self._signs(polynomial) == ZERO:
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

    def _part(self, key: str, signs: int, there: int) -> "Cell | None":
        # An inequality that is nowhere strict is an equality, and may make others so.
        strict = signs & ~ZERO
        if there & strict:
            return self._with(key, signs, self.point)
        if strict and (part := self._found(key, strict, signs)) is not None:
            return part
        if not signs & ZERO:
            return None
        part = self._with(key, ZERO, self.point) if there & ZERO else self._found(key, ZERO, ZERO)
        return part.tightened(key, self) if part is not None and strict else part

    def _found(self, key: str, asked: int, kept: int) -> "Cell | None":
        near = self._near(key)
        found = self.book.solver.find([*near, (key, asked)], self.book.polynomials)
        if found is None:
            return None
        point = None
        if self.point is not None and found:
            point = {**self.point, **found}
            if not all(sign(value(self.book.polynomials[k], point)) & s for k, s in [*near, (key, asked)]):
                point = None
        return self._with(key, kept, point)

    def tightened(self, key: str, before: "Cell") -> "Cell":
        """The cell, with inequalities near `key` that are nowhere strict made equalities."""
        cell = self
        for old, _ in before._near(key):
            polynomial = cell.reduce(cell.book.polynomials[old])
            if polynomial.is_constant():
                continue
            known, _ = cell.book.spell(polynomial)
            signs = cell.facts.get(known, ANY)
            if signs in (NEGATIVE | ZERO, ZERO | POSITIVE):
                part = cell._found(known, signs & ~ZERO, signs)
                if part is None:
                    cell = cell._with(known, ZERO, cell.point)
        return cell

    def _near(self, key: str) -> list[tuple[str, int]]:
        # The facts that share variables with the polynomial, or with one that does, and so on.
        names, left, near = set(self.book.names[key]), list(self.facts.items()), []
        grown = True
        while grown:
            grown, rest = False, []
            for fact in left:
                if names.isdisjoint(self.book.names[fact[0]]):
                    rest.append(fact)
                else:
                    near.append(fact)
                    names |= self.book.names[fact[0]]
                    grown = True
            left = rest
        return near

    def _with(self, key: str, signs: int, point: dict[str, fmpq] | None) -> "Cell":
        facts = {**self.facts, key: signs}
        if signs != ZERO or (solved := solve(self.book.polynomials[key])) is None:
            return Cell(self.book, facts, self.equal, point)
        name, polynomial = solved
        rewritten: dict[str, int] = {}
        for old, known in facts.items():
            if name in self.book.names[old]:
                reduced = put(self.book.polynomials[old], name, polynomial)
                if reduced.is_constant():
                    continue
                old, flipped = self.book.spell(reduced)
                known = flip(known) if flipped else known
            rewritten[old] = rewritten.get(old, ANY) & known
        cell = Cell(self.book, rewritten, (*self.equal, (name, polynomial)), point)
        for old, known in rewritten.items():
            if known == ZERO and solve(self.book.polynomials[old]) is not None:
                return cell._with(old, ZERO, point)
        return cell
