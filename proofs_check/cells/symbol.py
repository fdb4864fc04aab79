"""The numbers of a proof: rational functions of the free probabilities, and what is known of their signs.

Sets of signs come first, then operations on polynomials, then `Symbol`, a number that every verifier can
compute with: it adds, multiplies and divides like a rational, and where a verifier compares two of them,
the function `within` is asked for the sign of a polynomial; it answers, or cuts the cell in two.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

NEGATIVE, ZERO, POSITIVE = 1, 2, 4
"""A set of signs is the sum of its members."""
ANY = NEGATIVE | ZERO | POSITIVE

Within = Callable[..., bool]
"""Called with a set of signs and polynomials: whether the sign of their product lies in the set."""


def sign(number: fmpq) -> int:
    """The sign of a number, as a set of one."""
    return POSITIVE if number > 0 else NEGATIVE if number < 0 else ZERO


def flip(signs: int) -> int:
    """The possible signs of minus a number."""
    return (signs & ZERO) | (POSITIVE if signs & NEGATIVE else 0) | (NEGATIVE if signs & POSITIVE else 0)


def times(a: int, b: int) -> int:
    """The possible signs of a product."""
    out = ZERO if (a | b) & ZERO else 0
    if (a & POSITIVE and b & POSITIVE) or (a & NEGATIVE and b & NEGATIVE):
        out |= POSITIVE
    if (a & POSITIVE and b & NEGATIVE) or (a & NEGATIVE and b & POSITIVE):
        out |= NEGATIVE
    return out


def raised(signs: int, power: int) -> int:
    """The possible signs of a power."""
    if power % 2:
        return signs
    return (signs & ZERO) | (POSITIVE if signs & (POSITIVE | NEGATIVE) else 0)


def substitute(polynomial: fmpq_mpoly, name: str, replacement: fmpq_mpoly) -> fmpq_mpoly:
    """The polynomial with a variable replaced by a polynomial."""
    context = polynomial.context()
    at = context.variable_to_index(name)
    if polynomial.is_constant() or not polynomial.degrees()[at]:
        return polynomial
    if replacement.is_constant():
        return polynomial.subs({name: replacement.leading_coefficient() if replacement else fmpq(0)})
    gens = list(context.gens())
    gens[at] = replacement
    return polynomial.compose(*gens, ctx=context)


def solve(polynomial: fmpq_mpoly) -> tuple[str, fmpq_mpoly] | None:
    """Solves polynomial = 0 for a variable: its name and the polynomial that it equals, or None."""
    context = polynomial.context()
    for at, degree in enumerate(polynomial.degrees()):
        if degree == 1:
            gen = context.gen(at)
            slope = polynomial.derivative(at)
            if slope.is_constant():
                slope = slope.leading_coefficient()
                return context.names()[at], gen - polynomial / slope
    return None


def value(polynomial: fmpq_mpoly, point: dict[str, fmpq]) -> fmpq:
    """The polynomial's value at a point."""
    return polynomial(*[point[name] for name in polynomial.context().names()])


class Symbol:
    """A quotient of polynomials, in lowest terms, whose denominator is not zero where it is used.

    Made by the subclass that `field` returns, which knows its variables and the function `within` that
    answers comparisons. A Symbol cannot be hashed: whether two are equal depends on the cell.
    """

    __slots__ = ("bottom", "top")
    variables: ClassVar[fmpq_mpoly_ctx]
    within: Within

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
        raise TypeError("a symbol cannot be a dictionary key: whether two are equal depends on the cell")

    def __bool__(self) -> bool:
        return not self.within(ZERO, self.top)

    def __abs__(self) -> "Symbol":
        return -self if self < 0 else self

    def __repr__(self) -> str:
        return str(self.top) if self.bottom == 1 else f"({self.top})/({self.bottom})"

    def _difference(self, other: Any, signs: int) -> bool:
        other = self._other(other)
        if self.bottom == other.bottom:
            return self.within(signs, self.top - other.top, self.bottom)
        difference = self.top * other.bottom - other.top * self.bottom
        return self.within(signs, difference, self.bottom, other.bottom)

    def _lowest(self, top: fmpq_mpoly, bottom: fmpq_mpoly) -> "Symbol":
        if not top:
            return type(self)(0)
        if bottom.is_constant():
            return type(self)(top / bottom)
        common = top.gcd(bottom)
        return type(self)(top / common, bottom / common)


def field(variables: fmpq_mpoly_ctx, within: Within) -> type[Symbol]:
    """The type of rational functions of these variables; `within` answers their comparisons."""
    return type(
        "Symbol", (Symbol,), {"__slots__": (), "variables": variables, "within": staticmethod(within)}
    )


def identical(a: Symbol, b: Symbol) -> bool:
    """Whether two Symbols are the same function everywhere: tops and bottoms may differ by a constant."""
    return bool(a.top == b.top if a.bottom == b.bottom else a.top * b.bottom == b.top * a.bottom)


class LeafRead(Exception):
    """A verifier computed with the target's row after a full draft."""


class Unread:
    """An entry of a row that may be passed on but not computed with."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def _refuse(self, *_: object) -> NoReturn:
        raise LeafRead

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __neg__ = __pow__ = __abs__ = __bool__ = __lt__ = __gt__ = __le__ = __ge__ = __eq__ = _refuse


def unread(number: type[Symbol], vocab: int) -> tuple[Unread, ...]:
    """A row that only has a length and a type of number: most verifiers need no more of the target's row
    after a full draft, from which the bonus token is drawn.
    """

    def make(cls: type, value: Any = None) -> Any:
        return object.__new__(cls) if value is None else number(value)

    kind = type("Unread", (Unread,), {"__slots__": (), "__new__": make})
    return tuple(kind() for _ in range(vocab))
