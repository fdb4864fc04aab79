"""Lazy uniforms: random numbers whose value is narrowed only as far as comparisons need.

A `Lazy` stands for f(u), where u is one coin and f a sequence of monotone steps. A comparison with a number
asks the state of the coins whether u lies below the point where f crosses that number. Some shapes of f also
have a `Form`, because they can be compared with one another (races of exponentials). A `Product` is one of
several coins, and an `Integer` is used as a seed.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.coins import forms
from draftproof.simulators.audit.coins.coin import Coin, number, with_number
from draftproof.simulators.audit.coins.forms import UNIFORM, Form
from draftproof.simulators.audit.coins.state import CoinState, NotEnumerable, dyadic
from draftproof.simulators.audit.coins.volumes import exponential
from draftproof.theory.numbers import ONE, ZERO

Steps = tuple[tuple[str, float], ...]

_STEP = {
    "+": lambda x, c: x + c,
    "*": lambda x, c: x * c,
    "/": lambda x, c: x / c,
    "c-": lambda x, c: c - x,
    "c/": lambda x, c: c / x,
    "log": lambda x, c: np.log(x),
    "log1p": lambda x, c: np.log1p(x),
    "exp": lambda x, c: np.exp(x),
    "max": lambda x, c: max(x, x.dtype.type(c)),
    "min": lambda x, c: min(x, x.dtype.type(c)),
}


@lru_cache(maxsize=65536)
def crossing(steps: Steps, kind: type, rising: bool, t: float) -> fmpq:
    """The u where f crosses t: f(u) < t below this u if f is increasing, above it if f is decreasing.

    Found by bisection over the floats of `kind`, the type in which f is computed.
    """
    if not steps:
        return dyadic(min(max(t, 0.0), 1.0))
    integer = np.dtype(f"i{np.dtype(kind).itemsize}").type  # floats in [0, 1] are ordered as their bits
    low, high = 0, int(kind(1.0).view(integer))
    with np.errstate(all="ignore"):
        while low < high:
            middle = (low + high) // 2
            if bool(_value(steps, integer(middle).view(kind)) < t) == rising:
                low = middle + 1
            else:
                high = middle
    return dyadic(float(integer(low).view(kind)))


def _value(steps: Steps, u: Any) -> Any:
    for step, c in steps:
        u = _STEP[step](u, c)
    return u


@dataclass(slots=True, eq=False, repr=False)
class Lazy(Coin):
    """f(u) for one coin u. `rising`: whether f is increasing; `kind`: the float type it is computed in."""

    state: CoinState
    coin: int
    kind: type = np.float64
    steps: Steps = ()
    rising: bool = True
    form: Form = UNIFORM
    mirror: bool = False

    def _then(self, step: str, c: Any, rising: bool, form: Form, mirror: bool | None = None) -> "Lazy":
        mirror = self.mirror if mirror is None else mirror
        up = self.rising == rising
        return Lazy(self.state, self.coin, self.kind, (*self.steps, (step, c)), up, form, mirror)

    def _below(self, t: float) -> bool:
        cut = crossing(self.steps, self.kind, self.rising, float(t))
        return self.state.below(self.coin, cut) == self.rising

    def _less(self, other: Any) -> Any:
        return less(self, other) if isinstance(other, Lazy) else Coin._less(self, other)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Coin):
            return self._unknown()
        c = number(other)
        if c is None:
            return NotImplemented
        if c != c or abs(c) == np.inf:
            return self.kind(c)
        return self._then("+", c, True, forms.moved(self.form, c) if c else self.form)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, Coin) and number(other) is None:
            return NotImplemented
        minus: Any = other
        return self + -minus

    @with_number
    def __rsub__(self, c: Any) -> Any:
        if c != c or abs(c) == np.inf:
            return self.kind(c)
        if self.form == UNIFORM and c == 1:
            return self._then("c-", c, False, self.form, not self.mirror)
        return self._then("c-", c, False, forms.moved(forms.scaled(self.form, -1.0), c))

    def __neg__(self) -> "Lazy":
        return self._then("*", -1.0, False, forms.scaled(self.form, -1.0))

    def __pos__(self) -> "Lazy":
        return self

    conjugate = __pos__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Coin):
            return product(self) * other
        c = number(other)
        if c is None:
            return NotImplemented
        if c == 0 or c != c:
            return self.kind(c)
        return self._then("*", c, bool(c > 0), forms.scaled(self.form, float(c)))

    __rmul__ = __mul__

    @with_number
    def __truediv__(self, c: Any) -> Any:
        if c == 0:
            return self.kind(np.inf) if not self < 0 else self.kind(-np.inf)
        if c != c or abs(c) == np.inf:
            return self.kind(0 * c if c == c else c)
        return self._then("/", c, bool(c > 0), forms.scaled(self.form, 1 / float(c)))

    @with_number
    def __rtruediv__(self, c: Any) -> Any:
        if c == 0 or c != c:
            return self.kind(c)
        with np.errstate(all="ignore"):
            ends = [_value(self.steps, self.kind(u)) for u in (0.0, 1.0)]
        if min(ends) < 0 < max(ends):
            raise NotEnumerable("it divides by a coin that may have both signs")
        return self._then("c/", c, bool(c < 0), forms.inverted(self.form, float(c)))

    def log(self) -> Any:
        return self._then("log", 0.0, True, forms.logged(self.form))

    def log1p(self) -> Any:
        negated = self.form == ("u", 0.0, -1.0, 0.0)  # log1p(-u), a stable form of log(1 - u)
        return self._then("log1p", 0.0, True, ("E", 0.0, -1.0, 0.0) if negated else None, not self.mirror)

    def exp(self) -> Any:
        return self._then("exp", 0.0, True, forms.exponentiated(self.form))

    def capped(self, c: float, largest: bool) -> "Lazy":
        """max(f(u), c), or min(f(u), c)."""
        cut = crossing(self.steps, self.kind, self.rising, float(c))
        capped = cut if largest == self.rising else 1 - cut
        return self._then("max" if largest else "min", c, True, forms.off_by(self.form, float(capped)))


@dataclass(slots=True, eq=False, repr=False)
class Product(Coin):
    """scale * u_1 .. u_k of different coins."""

    state: CoinState
    coins: tuple[int, ...]
    scale: float

    def _below(self, t: float) -> bool:
        return self.state.product_below(self.coins, dyadic(t) / dyadic(self.scale) if t > 0 else ZERO)

    def __mul__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            more = other if isinstance(other, Product) else product(other)
            return Product(self.state, (*self.coins, *more.coins), self.scale * more.scale)
        return Product(self.state, self.coins, self.scale * float(c)) if c > 0 else self._unknown()

    __rmul__ = __mul__

    @with_number
    def __truediv__(self, c: Any) -> Any:
        return self * (1 / c)


def product(coin: Any) -> Product:
    """A multiple of a coin as a product; NotEnumerable if it is something else."""
    if not isinstance(coin, Lazy) or not coin.form or coin.form[0] != "u" or coin.form[2] <= 0 or coin.mirror:
        raise NotEnumerable("coins are multiplied in a way that has no closed form")
    coin.state.stands_for(coin.coin, coin.form[3])
    return Product(coin.state, (coin.coin,), coin.form[2])


@dataclass(slots=True, eq=False, repr=False)
class Integer(Coin):
    """A uniform integer of many values, from a coin. Used as a seed it becomes a plain number."""

    state: CoinState
    coin: int
    low: int
    count: int

    def _below(self, t: float) -> bool:
        return self._refused()

    def __int__(self) -> int:
        return self.state.seed(self.coin, lambda u: self.low + int(u * self.count))

    __trunc__ = __index__ = __hash__ = __int__

    def __add__(self, other: Any) -> Any:
        return int(self) + other

    __radd__ = __add__
    __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = Coin._refused


def less(x: Lazy, y: Lazy) -> bool:
    """Whether x < y, for functions of two different coins: a comparison of E_x with a multiple of E_y."""
    if x.coin == y.coin:
        if x.steps == y.steps:
            return False
        raise NotEnumerable("a coin is compared with a function of itself")
    if not x.form or not y.form or x.form[0] != y.form[0] or (x.form[0] == "u" and x.form[2] != y.form[2]):
        raise NotEnumerable("coins are compared in a way that has no closed form")
    (name, a, c, off), (_, b, d, other) = x.form, y.form
    x.state.stands_for(x.coin, off)
    y.state.stands_for(y.coin, other)
    mirrors = x.mirror, y.mirror
    if c * d < 0 and name != "G" and a == b:
        return c < 0
    steep = dyadic(abs(c)) / dyadic(abs(d))
    if name == "u" and c == d:
        x_slower, ratio = c > 0, ONE
    elif name == "1/E":
        x_slower, ratio = c > 0, steep if c > 0 else 1 / steep
    elif name == "E" and a == b:
        x_slower, ratio = c < 0, 1 / steep if c < 0 else steep
    elif name == "G" and c == d:
        x_slower = c > 0
        ratio = exponential((dyadic(a) - dyadic(b)) / dyadic(abs(c)))
    else:
        raise NotEnumerable("coins are compared in a way that has no closed form")
    if x_slower:  # x < y when E_x >= ratio E_y
        return x.state.slower(x.coin, y.coin, ratio, mirrors)
    return x.state.slower(y.coin, x.coin, ratio, (y.mirror, x.mirror))
