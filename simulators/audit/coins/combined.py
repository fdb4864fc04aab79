"""Numbers made of several coins: products, sums of multiples, and the order that a softmax keeps."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.coins.coin import Coin, number, with_number
from draftproof.simulators.audit.coins.state import CoinState, NotEnumerable, Opaque, dyadic
from draftproof.simulators.audit.coins.volumes import exponential
from draftproof.theory.numbers import ONE, ZERO

COINS_IN_SUM = 16  # coins in a sum


class Combined(Coin):
    """The operators that follow from a product with a number and a sum."""

    __slots__ = ()

    def __mul__(self, other: Any, /) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any, /) -> Any:
        raise NotImplementedError

    @with_number
    def __truediv__(self, c: Any) -> Any:
        return self * (1 / c)

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other


@dataclass(slots=True, eq=False, repr=False)
class Product(Combined):
    """scale * u_1 .. u_k of different coins; in logarithms, sign * (scale + sum log u)."""

    state: CoinState
    coins: tuple[int, ...]
    scale: float
    logs: bool
    sign: float = 1.0

    def _below(self, t: float) -> bool:
        if not self.logs:
            return self.state.product_below(self.coins, dyadic(t) / dyadic(self.scale) if t > 0 else ZERO)
        x = self.sign * t - self.scale
        cut = exponential(dyadic(x)) if abs(x) < np.inf else ONE if x > 0 else ZERO
        return self.state.product_below(self.coins, cut) == bool(self.sign > 0)

    def _with(self, other: Any, logs: bool) -> Any:
        if hasattr(other, "form"):
            other = product(other, logs)
        if not isinstance(other, Product):
            return NotImplemented
        if self.logs != logs or other.logs != logs or self.sign != other.sign:
            raise NotEnumerable("a product of coins that has no closed form")
        scale = self.scale + other.scale if logs else self.scale * other.scale
        return Product(self.state, (*self.coins, *other.coins), scale, logs, self.sign)

    def __mul__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            return self._with(other, False)
        if self.logs:
            if abs(c) != 1:
                raise NotEnumerable("a power of a product of coins")
            return Product(self.state, self.coins, self.scale, True, self.sign * c)
        if c < 0:
            raise NotEnumerable("a negative multiple of a product of coins")
        return Product(self.state, self.coins, self.scale * float(c), False) if c else 0.0

    def __add__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            return self._with(other, True)
        if not self.logs:
            raise NotEnumerable("a sum of coins")
        return Product(self.state, self.coins, self.scale + self.sign * float(c), True, self.sign)

    def log(self) -> "Product":
        return Product(self.state, self.coins, float(np.log(self.scale)), True)

    def exp(self) -> "Product":
        if not self.logs or self.sign < 0:
            raise NotEnumerable("an exponential of a product of coins")
        return Product(self.state, self.coins, float(np.exp(self.scale)), False)


def product(lazy: Any, logs: bool) -> Product:
    """The lazy number as a product of one coin, or as its logarithm; NotEnumerable if it is neither."""
    if lazy.form and not lazy.mirror:
        name, a, c, off = lazy.form
        lazy.state.stands_for(lazy.coin, off)
        if logs and name == "E" and abs(c) == 1:  # a + c E = -c (-c a + log u)
            return Product(lazy.state, (lazy.coin,), -c * a, True, -c)
        if not logs and name == "u" and c > 0:
            return Product(lazy.state, (lazy.coin,), c, False)
    raise NotEnumerable("coins are combined in a way that has no closed form")


@dataclass(slots=True, eq=False, repr=False)
class Sum(Combined):
    """shift + the sum of factor * u over the coins u of `factors`; `total` makes one."""

    state: CoinState
    factors: dict[int, fmpq]
    shift: fmpq = ZERO

    def _below(self, t: float) -> bool:
        if abs(t) == np.inf or not self.factors:
            return bool(t > 0) if self.factors else bool(self.shift < dyadic(t))
        cut = dyadic(t) - self.shift
        if len(self.factors) > 1:
            return self.state.sum_below(self.factors, cut)
        ((coin, factor),) = self.factors.items()
        return self.state.below(coin, cut / factor) == (factor > 0)

    def _less(self, other: Any) -> Any:
        return (self - other)._below(0.0) if isinstance(other, Coin) else Coin._less(self, other)

    def __add__(self, other: Any) -> Any:
        c = number(other)
        if c is not None:
            if c != c or abs(c) == np.inf:
                return float(c)
            return Sum(self.state, self.factors, self.shift + dyadic(c))
        if not isinstance(other, Coin):
            return NotImplemented
        new = total(other)
        both = {coin: self.factors.get(coin, ZERO) + c for coin, c in new.factors.items()}
        both = {coin: c for coin, c in (self.factors | both).items() if c}
        if len(both) > COINS_IN_SUM:
            raise NotEnumerable(f"a sum of more than {COINS_IN_SUM} coins")
        return Sum(self.state, both, self.shift + new.shift)

    @with_number
    def __mul__(self, c: Any) -> Any:
        if not c or c != c or abs(c) == np.inf:
            raise NotEnumerable(f"a sum of coins times {c}")
        factor = dyadic(c)
        return Sum(self.state, {coin: f * factor for coin, f in self.factors.items()}, self.shift * factor)

    def __rsub__(self, other: Any) -> Any:
        return -self + other


def total(coin: Any) -> Sum:
    """The number as a sum; NotEnumerable if it is not a sum of multiples of coins."""
    if isinstance(coin, Sum):
        return coin
    shift, factor = ZERO, ONE
    for step, c in getattr(coin, "steps", (("none", 0.0),)):
        if step not in _LINEAR:
            raise NotEnumerable("coins are combined in a way that has no closed form")
        shift, factor = _LINEAR[step](shift, factor, dyadic(c))
    coin.state.stands_for(coin.coin, 0.0)
    return Sum(coin.state, {coin.coin: factor}, shift)


_LINEAR = {
    "+": lambda a, b, c: (a + c, b),
    "*": lambda a, b, c: (a * c, b * c),
    "/": lambda a, b, c: (a / c, b / c),
    "c-": lambda a, b, c: (c - a, -b),
}
"""Steps of a coin a + b u that leave it linear -> the new (a, b)."""


def added(lazy: Any, other: Coin) -> Any:
    """The sum of a function of one coin and another lazy number: of logarithms it is that of a product."""
    if isinstance(other, Sum) or all(step in _LINEAR for step, _ in lazy.steps):
        return total(lazy) + other
    return product(lazy, True) + other


@dataclass(slots=True, eq=False, repr=False)
class Ranked(Coin):
    """An entry of a softmax of coins, which is compared with the other entries of its `row` and with 0."""

    state: CoinState
    value: Any
    row: object

    def _below(self, t: float) -> bool:
        if 0 < t <= 1:
            raise Opaque("an entry of a softmax of coins is compared with a number")
        return t > 1

    def _less(self, other: Any) -> Any:
        if isinstance(other, Coin):
            if not isinstance(other, Ranked) or other.row is not self.row:
                raise Opaque("entries of two softmaxes of coins are compared")
            return self.value < other.value
        return Coin._less(self, other)


def softmax(values: np.ndarray, axis: int) -> np.ndarray:
    """The softmax of an array of coins along an axis, of which the order is known; -inf becomes 0."""
    out = np.empty(values.shape, dtype=object)
    rows, found = np.moveaxis(values, axis, -1), np.moveaxis(out, axis, -1)
    for at in np.ndindex(rows.shape[:-1]):
        row = object()
        if not any(isinstance(value, Coin) for value in rows[at]):
            weights = np.exp((rows[at] - rows[at].max()).astype(np.float64))
            found[at] = weights / weights.sum()
            continue
        for i, value in enumerate(rows[at]):
            if not isinstance(value, Coin) and value != -np.inf:
                raise Opaque("a softmax of coins and numbers")
            found[at][i] = Ranked(value.state, value, row) if isinstance(value, Coin) else 0.0
    return out
