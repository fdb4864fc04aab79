"""Lazy uniforms: numbers that are decided only as far as somebody asks.

A `Lazy` stands for f(u), u one coin and f a chain of steps that are each monotone. Compared with a
number it asks the world whether u lies below the point where f crosses it; that point is found in
the very arithmetic the function computes in, by bisection over its floats. Some shapes of f are
also known by name (`form`), because they can be compared with one another: races.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from simulators.audit.volumes import BITS, rational
from simulators.audit.world import NotEnumerable, Opaque, World, dyadic
from theory.numbers import ONE, ZERO

NEGLIGIBLE = fmpq(1, 2**60)

Steps = tuple[tuple[str, float], ...]
Form = tuple[str, float, float] | None
"""("u", 0, c): c u;  ("E", a, c): a + c E;  ("1/E", 0, c): c / E;  ("G", a, c): a - c log E;
("X", 0, c): exp(-c E);  with E = -log u, of a mirrored coin with 1 - u in the place of u."""

_STEP = {
    "+": lambda x, c: x + c,
    "*": lambda x, c: x * c,
    "/": lambda x, c: x / c,
    "c-": lambda x, c: c - x,
    "c/": lambda x, c: c / x,
    "**": lambda x, c: x**c,
    "log": lambda x, c: np.log(x),
    "log1p": lambda x, c: np.log1p(x),
    "exp": lambda x, c: np.exp(x),
    "sqrt": lambda x, c: np.sqrt(x),
    "max": lambda x, c: max(x, x.dtype.type(c)),
    "min": lambda x, c: min(x, x.dtype.type(c)),
}


def number(other: Any) -> Any:
    """`other` as one plain number, or None when it is something else."""
    if isinstance(other, int | float | np.generic):
        return other
    if getattr(other, "ndim", None) == 0 and hasattr(other, "item"):
        return other.item()
    return None


class Coin:
    """Comparisons and conversions that everything lazy shares; `_below(t)` decides value < t."""

    __slots__ = ("world",)
    world: World

    def _below(self, t: float) -> bool:
        raise NotImplementedError

    def _less(self, other: Any) -> Any:
        t = number(other)
        if t is None:
            return NotImplemented
        return None if t != t else self._below(t)  # every comparison with NaN is false

    def __lt__(self, other: Any) -> Any:
        less = self._less(other)
        return less if less is NotImplemented else bool(less)

    def __gt__(self, other: Any) -> Any:
        less = self._less(other)
        return less if less is NotImplemented else less is False

    __le__, __ge__ = __lt__, __gt__  # equality has probability zero

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __bool__(self) -> bool:
        return True

    def __int__(self) -> int:
        low = 0
        if self < 0:
            while self < low - 1:
                low -= 1
            return low
        while not self < low + 1:
            low += 1
            if low > 10_000:
                raise NotEnumerable("a coin is turned into an integer above 10,000")
        return low

    __trunc__ = __int__

    def __floor__(self) -> int:
        low = int(self)
        return low - 1 if self < low else low

    def __ceil__(self) -> int:
        return self.__floor__() + 1

    floor = __floor__

    def _refused(self, *_: Any, **__: Any) -> Any:
        raise Opaque("a coin is turned into a plain number (float, hash, index, text)")

    __float__ = __hash__ = __index__ = __complex__ = __format__ = __str__ = _refused


class Lazy(Coin):
    """f(u) for one coin u. `rising` says which way f goes, `kind` which floats it is computed in."""

    __slots__ = ("coin", "form", "kind", "mirror", "rising", "steps")

    def __init__(
        self,
        world: World,
        coin: int,
        kind: type = np.float64,
        steps: Steps = (),
        rising: bool = True,
        form: Form = ("u", 0.0, 1.0),
        mirror: bool = False,
    ):
        self.world, self.coin, self.kind = world, coin, kind
        self.steps, self.rising, self.form, self.mirror = steps, rising, form, mirror

    def _then(self, step: str, c: Any, rising: bool, form: Form, mirror: bool | None = None) -> "Lazy":
        mirror = self.mirror if mirror is None else mirror
        up = self.rising == rising
        return Lazy(self.world, self.coin, self.kind, (*self.steps, (step, c)), up, form, mirror)

    def _below(self, t: float) -> bool:
        cut = _cut(self.steps, self.kind, self.rising, float(t))
        low = self.world.below(self.coin, cut)
        return low if self.rising else not low

    def _less(self, other: Any) -> Any:
        if isinstance(other, Lazy):
            return _compared(self, other)
        return super()._less(other)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Coin):
            return product(self, True) + other
        c = number(other)
        if c is None:
            return NotImplemented
        if c != c or abs(c) == np.inf:
            return self.kind(c)
        kept = _moved(self.form, lambda a: a + c) if c else self.form
        return self._then("+", c, True, kept)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        c = number(other)
        return NotImplemented if c is None else self + -c

    def __rsub__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            return NotImplemented
        if c != c or abs(c) == np.inf:
            return self.kind(c)
        if self.form == ("u", 0.0, 1.0) and c == 1:
            return self._then("c-", c, False, self.form, not self.mirror)
        return self._then("c-", c, False, _moved(_scaled(self.form, -1.0), lambda a: a + c))

    def _one_sided(self) -> None:  # 1/x and x^c are monotone on one side of 0
        with np.errstate(all="ignore"):
            ends = [_value(self.steps, self.kind(u)) for u in (0.0, 1.0)]
        if min(ends) < 0 < max(ends):
            raise NotEnumerable("a coin is divided by, or raised, on both sides of 0")

    def __neg__(self) -> "Lazy":
        return self._then("*", -1.0, False, _scaled(self.form, -1.0))

    def __pos__(self) -> "Lazy":
        return self

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Coin):
            return product(self, False) * other
        c = number(other)
        if c is None:
            return NotImplemented
        if c == 0 or c != c:
            return self.kind(c)
        return self._then("*", c, bool(c > 0), _scaled(self.form, float(c)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            return NotImplemented
        if c == 0:
            return self.kind(np.inf) if not self < 0 else self.kind(-np.inf)
        if c != c or abs(c) == np.inf:
            return self.kind(0 * c if c == c else c)
        return self._then("/", c, bool(c > 0), _scaled(self.form, 1 / float(c)))

    def __rtruediv__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            return NotImplemented
        if c == 0 or c != c:
            return self.kind(c)
        self._one_sided()
        form = None
        if self.form and self.form[0] == "E" and not self.form[1]:
            form = ("1/E", 0.0, float(c) / self.form[2])
        elif self.form and self.form[0] == "1/E":
            form = ("E", 0.0, float(c) / self.form[2])
        return self._then("c/", c, bool(c < 0), form)

    def __pow__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            raise NotEnumerable("a power of a coin that has no monotone account")
        self._one_sided()
        if c == 0:
            return self.kind(1)
        form = ("X", 0.0, float(c)) if self.form == ("u", 0.0, 1.0) and c > 0 else None
        return self._then("**", c, bool(c > 0), form)

    def log(self) -> Any:
        form = None
        if self.form:
            name, a, c = self.form
            if name == "X":
                form = ("E", 0.0, -c)
            elif c > 0 and not a:
                log_c = float(np.log(c))
                form = {"u": ("E", log_c, -1.0), "E": ("G", log_c, -1.0), "1/E": ("G", log_c, 1.0)}.get(name)
        return self._then("log", 0.0, True, form)

    def log1p(self) -> Any:
        negated = self.form == ("u", 0.0, -1.0)  # log(1 + -u), numerically careful
        return self._then("log1p", 0.0, True, ("E", 0.0, -1.0) if negated else None, not self.mirror)

    def exp(self) -> Any:
        form = None
        if self.form:
            name, a, c = self.form
            if name == "E" and c == -1:
                form = ("u", 0.0, float(np.exp(a)))
            elif name == "G" and abs(c) == 1:
                form = ("1/E" if c > 0 else "E", 0.0, float(np.exp(a)))
        return self._then("exp", 0.0, True, form)

    def sqrt(self) -> Any:
        return self._then("sqrt", 0.0, True, None)

    def capped(self, c: float, largest: bool) -> "Lazy":
        """max(f(u), c), or min: monotone still. Races are not told of a cap met less than 2^-60 often."""
        cut = _cut(self.steps, self.kind, self.rising, float(c))
        rare = min(cut, 1 - cut) < NEGLIGIBLE and (cut < NEGLIGIBLE) == (largest == self.rising)
        return self._then("max" if largest else "min", c, True, self.form if rare else None)

    def conjugate(self) -> "Lazy":
        return self

    def __abs__(self) -> "Lazy":
        return -self if self < 0 else self

    def __floordiv__(self, other: Any) -> int:
        return (self / other).__floor__()

    def __mod__(self, other: Any) -> Any:
        return self - other * (self / other).__floor__()


class Product(Coin):
    """scale * u_1 .. u_k of different coins; in logarithms, sign * (offset + sum log u)."""

    __slots__ = ("coins", "logs", "scale", "sign")

    def __init__(self, world: World, coins: tuple[int, ...], scale: float, logs: bool, sign: float = 1.0):
        self.world, self.coins, self.scale, self.logs, self.sign = world, coins, scale, logs, sign

    def _below(self, t: float) -> bool:
        if not self.logs:
            return self.world.product_below(self.coins, dyadic(t) / dyadic(self.scale) if t > 0 else ZERO)
        low = self.world.product_below(self.coins, _exp(self.sign * t - self.scale))
        return low if self.sign > 0 else not low

    def _with(self, other: Any, logs: bool) -> Any:
        if isinstance(other, Lazy):
            other = product(other, logs)
        if isinstance(other, Product):
            if self.logs != logs or other.logs != logs or self.sign != other.sign:
                raise NotEnumerable("a product of coins that has no closed form")
            scale = self.scale + other.scale if logs else self.scale * other.scale
            return Product(self.world, (*self.coins, *other.coins), scale, logs, self.sign)
        return None

    def __mul__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            return self._with(other, False) or NotImplemented
        if self.logs:
            if abs(c) != 1:
                raise NotEnumerable("a power of a product of coins")
            return Product(self.world, self.coins, self.scale, True, self.sign * c)
        if c < 0:
            raise NotEnumerable("a negative multiple of a product of coins")
        return Product(self.world, self.coins, self.scale * float(c), False) if c else 0.0

    def __truediv__(self, other: Any) -> Any:
        c = number(other)
        return NotImplemented if c is None else self * (1 / c)

    def __add__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            return self._with(other, True) or NotImplemented
        if not self.logs:
            raise NotEnumerable("a sum of coins")
        return Product(self.world, self.coins, self.scale + self.sign * float(c), True, self.sign)

    __rmul__, __radd__ = __mul__, __add__

    def __neg__(self) -> "Product":
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def log(self) -> "Product":
        return Product(self.world, self.coins, float(np.log(self.scale)), True)

    def exp(self) -> "Product":
        if not self.logs or self.sign < 0:
            raise NotEnumerable("an exponential of a product of coins")
        return Product(self.world, self.coins, float(np.exp(self.scale)), False)


def product(lazy: Lazy, logs: bool) -> Product:
    """The lazy number as a product of one coin, or its logarithm; refused when it is neither."""
    if lazy.form and not lazy.mirror:
        name, a, c = lazy.form
        if logs and name == "E" and abs(c) == 1:  # a + c E = -c (-c a + log u)
            return Product(lazy.world, (lazy.coin,), -c * a, True, -c)
        if not logs and name == "u" and c > 0:
            return Product(lazy.world, (lazy.coin,), c, False)
    raise NotEnumerable("coins are combined in a way that has no closed form")


def _scaled(form: Form, c: float) -> Form:
    if form is None or form[0] == "X":
        return None
    return form[0], form[1] * c, form[2] * c


def _moved(form: Form, move: Any) -> Form:
    return (form[0], float(move(form[1])), form[2]) if form and form[0] in ("E", "G") else None


def _compared(x: Lazy, y: Lazy) -> bool:
    # x < y, for two different coins: E_x >= ratio E_y, or the other way round.
    if x.coin == y.coin:
        if x.steps == y.steps:
            return False
        raise NotEnumerable("a coin is compared with a function of itself")
    if not x.form or not y.form or x.form[0] != y.form[0]:
        raise NotEnumerable("coins are compared in a way that has no closed form")
    (name, a, c), (_, b, d) = x.form, y.form
    mirrors = x.mirror, y.mirror
    if c * d < 0 and name != "G" and a == b:
        return c < 0
    steep = dyadic(abs(c)) / dyadic(abs(d))
    if name == "u" and c == d:
        x_slower, ratio = c > 0, ONE
    elif name == "X" or (name == "1/E"):
        x_slower, ratio = c > 0, (1 / steep if name == "X" else steep)
        if name == "1/E" and c < 0:
            x_slower, ratio = False, 1 / steep
    elif name == "E" and a == b:
        x_slower, ratio = c < 0, 1 / steep if c < 0 else steep
    elif name == "G" and c == d:
        x_slower = c > 0
        ratio = _exp((dyadic(a) - dyadic(b)) / dyadic(abs(c)))
    else:
        raise NotEnumerable("coins are compared in a way that has no closed form")
    if x_slower:  # x < y when E_x >= ratio E_y
        return x.world.slower(x.coin, y.coin, ratio, mirrors)
    return x.world.slower(y.coin, x.coin, ratio, (y.mirror, x.mirror))


def _exp(x: Any) -> fmpq:
    if isinstance(x, float) and x == -np.inf:
        return ZERO
    if isinstance(x, float) and x == np.inf:
        return ONE
    return _exp_of(x if isinstance(x, fmpq) else dyadic(x))


@lru_cache(maxsize=65536)
def _exp_of(x: fmpq) -> fmpq:
    with ctx.workprec(BITS):
        return rational(arb(x).exp()) if x else ONE


@lru_cache(maxsize=65536)
def _cut(steps: Steps, kind: type, rising: bool, t: float) -> fmpq:
    # Where f crosses t: below it f(u) < t when f rises, above it when f falls.
    if not steps:
        return dyadic(min(max(t, 0.0), 1.0))
    low, high = 0, int(_order(kind(1.0)))
    with np.errstate(all="ignore"):
        while low < high:
            middle = (low + high) // 2
            if bool(_value(steps, _from_order(middle, kind)) < t) == rising:
                low = middle + 1
            else:
                high = middle
    return dyadic(float(_from_order(low, kind)))


def _value(steps: Steps, u: Any) -> Any:
    for step, c in steps:
        u = _STEP[step](u, c)
    return u


_INTEGER = {np.float64: np.int64, np.float32: np.int32, np.float16: np.int16}


def _order(x: Any) -> Any:
    return x.view(_INTEGER[type(x)])


def _from_order(i: int, kind: type) -> Any:
    return _INTEGER[kind](i).view(kind)
