"""What everything lazy has in common: comparisons that decide, conversions that are refused."""

from typing import Any

import numpy as np

from draftproof.simulators.audit.randomness.world import NotEnumerable, Opaque, World


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
