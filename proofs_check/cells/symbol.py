"""Rational functions of the free probabilities, as numbers that every verifier can compute with.

A `Symbol` adds, multiplies and divides like a rational; where a verifier compares two of them, the
ground they stand on is asked for the sign of a polynomial, and answers or cuts the cell in two.
"""

from typing import Any, ClassVar, NoReturn, Protocol

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from draftproof.proofs_check.cells.signset import NEGATIVE, POSITIVE, ZERO


class Ground(Protocol):
    """Answers whether the sign of a product of polynomials lies in a set of signs."""

    def within(self, signs: int, *product: fmpq_mpoly) -> bool: ...


class Symbol:
    """A quotient of polynomials, in lowest terms, whose denominator is not zero where it is used.

    Made by the subclass that `field` returns, which knows its variables and its ground. A Symbol
    cannot be hashed: whether two are equal depends on where one stands.
    """

    __slots__ = ("bottom", "top")
    variables: ClassVar[fmpq_mpoly_ctx]
    ground: ClassVar[Ground]

    def __init__(self, top: Any, bottom: fmpq_mpoly | None = None):
        if not isinstance(top, fmpq_mpoly):
            if isinstance(top, float):
                raise TypeError("a float in a proof")
            top = self.variables.constant(top)
        self.top: fmpq_mpoly = top
        self.bottom: fmpq_mpoly = self.variables.constant(1) if bottom is None else bottom

    def _other(self, other: Any) -> "Symbol":
        if isinstance(other, Symbol):
            return other
        if isinstance(other, int | fmpq):
            return type(self)(other)
        if isinstance(other, Unread):
            raise LeafRead
        raise TypeError(f"a proof cannot compute with {type(other).__name__}")

    def __add__(self, other: Any) -> "Symbol":
        other = self._other(other)
        if self.bottom == other.bottom:
            return self._lowest(self.top + other.top, self.bottom)
        common = self.bottom.gcd(other.bottom)
        mine, theirs = self.bottom / common, other.bottom / common
        return self._lowest(self.top * theirs + other.top * mine, mine * other.bottom)

    __radd__ = __add__

    def __neg__(self) -> "Symbol":
        return type(self)(-self.top, self.bottom)

    def __sub__(self, other: Any) -> "Symbol":
        return self + -self._other(other)

    def __rsub__(self, other: Any) -> "Symbol":
        return self._other(other) + -self

    def __mul__(self, other: Any) -> "Symbol":
        other = self._other(other)
        if not self.top or not other.top:
            return type(self)(0)
        a, b = self.top.gcd(other.bottom), other.top.gcd(self.bottom)
        return type(self)((self.top / a) * (other.top / b), (self.bottom / b) * (other.bottom / a))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Symbol":
        other = self._other(other)
        if not other:
            raise ZeroDivisionError("a verifier divides by zero")
        return self * type(self)(other.bottom, other.top)

    def __rtruediv__(self, other: Any) -> "Symbol":
        return self._other(other) / self

    def __pow__(self, power: int) -> "Symbol":
        return type(self)(self.top**power, self.bottom**power)

    def __lt__(self, other: Any) -> bool:
        return self._difference(other, NEGATIVE)

    def __gt__(self, other: Any) -> bool:
        return self._difference(other, POSITIVE)

    def __le__(self, other: Any) -> bool:
        return not self._difference(other, POSITIVE)

    def __ge__(self, other: Any) -> bool:
        return not self._difference(other, NEGATIVE)

    def __eq__(self, other: object) -> bool:
        return self._difference(other, ZERO)

    def __hash__(self) -> NoReturn:
        raise TypeError("a plan is looked up by its numbers, and symbols are none")

    def __bool__(self) -> bool:
        return not self.ground.within(ZERO, self.top)

    def __abs__(self) -> "Symbol":
        return -self if self < 0 else self

    def __repr__(self) -> str:
        return str(self.top) if self.bottom == 1 else f"({self.top})/({self.bottom})"

    def _difference(self, other: Any, signs: int) -> bool:
        other = self._other(other)
        if self.bottom == other.bottom:
            return self.ground.within(signs, self.top - other.top, self.bottom)
        difference = self.top * other.bottom - other.top * self.bottom
        return self.ground.within(signs, difference, self.bottom, other.bottom)

    def _lowest(self, top: fmpq_mpoly, bottom: fmpq_mpoly) -> "Symbol":
        if not top:
            return type(self)(0)
        if bottom.is_constant():
            return type(self)(top / bottom)
        common = top.gcd(bottom)
        return type(self)(top / common, bottom / common)


def field(variables: fmpq_mpoly_ctx, ground: Ground) -> type[Symbol]:
    """The numbers over these variables whose comparisons this ground answers."""
    return type("Symbol", (Symbol,), {"__slots__": (), "variables": variables, "ground": ground})


def identical(a: Symbol, b: Symbol) -> bool:
    """Whether two Symbols are the same function, wherever one stands.

    Gcds are monic, so equal functions may differ in a constant factor: they are compared across.
    """
    if a.bottom == b.bottom:
        return bool(a.top == b.top)
    return bool(a.top * b.bottom == b.top * a.bottom)


class LeafRead(Exception):
    """A verifier looked into the target's row after a full draft."""


class Unread:
    """An entry of a row that may be handed on but not computed with."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _refuse(self, *_: object) -> NoReturn:
        raise LeafRead

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __neg__ = __pow__ = __abs__ = __bool__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__ = _refuse


def unread(number: type[Symbol], vocab: int) -> tuple[Unread, ...]:
    """A row of which only the length and the kind of number is told: all that most verifiers ask of
    the row after a full draft, before the bonus token is drawn from it.
    """

    def make(cls: type, value: Any = None) -> Any:
        return object.__new__(cls) if value is None else number(value)

    kind = type("Unread", (Unread,), {"__slots__": (), "__new__": make})
    return tuple(kind() for _ in range(vocab))
