"""Products of several coins, and sums of their logarithms."""

from typing import Any

import numpy as np

from draftproof.simulators.audit.randomness.lazy.coin import Coin, number
from draftproof.simulators.audit.randomness.lazy.forms import exponential
from draftproof.simulators.audit.randomness.world import NotEnumerable, World, dyadic
from draftproof.theory.numbers import ZERO


class Product(Coin):
    """scale * u_1 .. u_k of different coins; in logarithms, sign * (offset + sum log u)."""

    __slots__ = ("coins", "logs", "scale", "sign")

    def __init__(self, world: World, coins: tuple[int, ...], scale: float, logs: bool, sign: float = 1.0):
        self.world, self.coins, self.scale, self.logs, self.sign = world, coins, scale, logs, sign

    def _below(self, t: float) -> bool:
        if not self.logs:
            return self.world.product_below(self.coins, dyadic(t) / dyadic(self.scale) if t > 0 else ZERO)
        low = self.world.product_below(self.coins, exponential(self.sign * t - self.scale))
        return low if self.sign > 0 else not low

    def _with(self, other: Any, logs: bool) -> Any:
        if isinstance(other, Coin) and not isinstance(other, Product):
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


def product(lazy: Any, logs: bool) -> Product:
    """The lazy number as a product of one coin, or its logarithm; refused when it is neither."""
    if lazy.form and not lazy.mirror:
        name, a, c = lazy.form
        if logs and name == "E" and abs(c) == 1:  # a + c E = -c (-c a + log u)
            return Product(lazy.world, (lazy.coin,), -c * a, True, -c)
        if not logs and name == "u" and c > 0:
            return Product(lazy.world, (lazy.coin,), c, False)
    raise NotEnumerable("coins are combined in a way that has no closed form")
