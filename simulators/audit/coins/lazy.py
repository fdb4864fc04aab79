"""Lazy uniforms: random numbers whose value is narrowed only as far as comparisons need.

A `Lazy` stands for f(u), where u is one coin and f a sequence of monotone steps. A comparison with a number
asks the state of the coins whether u lies below the point where f crosses that number. Some shapes of f
(`forms`) can be compared with one another: races of exponentials. A `Product` is one of several coins, and an
`Integer` is used as a seed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.coin import Coin, number, with_number
from draftproof.simulators.audit.coins.forms import Form, Steps, crossing, form, value
from draftproof.simulators.audit.coins.state import CoinState, NotEnumerable, dyadic
from draftproof.simulators.audit.coins.volumes import exponential
from draftproof.theory.numbers import ONE, ZERO


@dataclass(slots=True, eq=False, repr=False)
class Lazy(Coin):
    """f(u) for one coin u; `kind` is the float type that f is computed in."""

    state: CoinState
    coin: int
    kind: type = np.float64
    steps: Steps = ()

    @property
    def form(self) -> Form:
        return form(self.steps, self.kind)

    def _then(self, step: str, c: Any = 0.0) -> "Lazy":
        return Lazy(self.state, self.coin, self.kind, (*self.steps, (step, c)))

    def _below(self, t: float) -> bool:
        rising = self.form.rising
        return self.state.below(self.coin, crossing(self.steps, self.kind, rising, float(t))) == rising

    def _less(self, other: Any) -> Any:
        return less(self, other) if isinstance(other, Lazy) else Coin._less(self, other)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Coin):
            return self._unknown()
        c = number(other)
        if c is None:
            return NotImplemented
        return self.kind(c) if c != c or abs(c) == np.inf else self._then("+", c)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other if isinstance(other, Coin) or number(other) is not None else NotImplemented

    @with_number
    def __rsub__(self, c: Any) -> Any:
        return -self + c

    def __neg__(self) -> "Lazy":
        return self._then("*", -1.0)

    def __pos__(self) -> "Lazy":
        return self

    conjugate = __pos__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Coin):
            return product(self) * other
        c = number(other)
        if c is None:
            return NotImplemented
        return self.kind(c) if c == 0 or c != c else self._then("*", c)

    __rmul__ = __mul__

    @with_number
    def __truediv__(self, c: Any) -> Any:
        if c == 0:
            return self.kind(np.inf) if not self < 0 else self.kind(-np.inf)
        if c != c or abs(c) == np.inf:
            return self.kind(0 * c if c == c else c)
        return self._then("/", c)

    @with_number
    def __rtruediv__(self, c: Any) -> Any:
        if c == 0 or c != c:
            return self.kind(c)
        with np.errstate(all="ignore"):
            ends = [value(self.steps, self.kind(u)) for u in (0.0, 1.0)]
        if min(ends) < 0 < max(ends):
            raise NotEnumerable("it divides by a coin that may have both signs")
        return self._then("c/", c)

    def log(self) -> Any:
        return self._then("log")

    def log1p(self) -> Any:
        return self._then("log1p")

    def exp(self) -> Any:
        return self._then("exp")

    def capped(self, c: float, largest: bool) -> "Lazy":
        """max(f(u), c), or min(f(u), c)."""
        return self._then("max" if largest else "min", c)


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
    found = coin.form if isinstance(coin, Lazy) else Form("")
    if found.name != "u" or found.c <= 0 or found.mirror:
        raise NotEnumerable("coins are multiplied in a way that has no closed form")
    coin.state.stands_for(coin.coin, found.off)
    return Product(coin.state, (coin.coin,), found.c)


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
    (name, a, c, off, *_), (of, b, d, other, *_) = x.form, y.form
    if not name or name != of or (name == "u" and c != d):
        raise NotEnumerable("coins are compared in a way that has no closed form")
    x.state.stands_for(x.coin, off)
    y.state.stands_for(y.coin, other)
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
    slow, fast = (x, y) if x_slower else (y, x)  # x < y when E_slow >= ratio E_fast
    return x.state.slower(slow.coin, fast.coin, ratio, (slow.form.mirror, fast.form.mirror))
