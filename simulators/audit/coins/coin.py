"""What all lazy numbers have in common: comparisons with plain numbers, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np

from draftproof.simulators.audit.coins.state import CoinState, NotEnumerable, Opaque


def number(other: Any) -> Any:
    """`other` as a plain number, or None if it is something else."""
    if isinstance(other, int | float | np.generic):
        return other
    if getattr(other, "ndim", None) == 0 and hasattr(other, "item"):
        return other.item()
    return None


def with_number(operator: Callable[[Any, Any], Any]) -> Callable[[Any, object], Any]:
    """The operator for a lazy number and a plain one; for any other operand it returns NotImplemented."""

    def applied(self: Any, other: object) -> Any:
        c = number(other)
        return NotImplemented if c is None else operator(self, c)

    return applied


class Coin:
    """Comparisons and conversions common to all lazy numbers; `_below(t)` decides value < t."""

    __slots__ = ("state",)
    state: CoinState

    def _below(self, t: float) -> bool:
        raise NotImplementedError

    @with_number
    def _less(self, t: Any) -> Any:
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

    __float__ = __hash__ = __index__ = __complex__ = __format__ = __str__ = __round__ = _refused
    __floordiv__ = __divmod__ = __mod__ = __abs__ = __pow__ = sqrt = _refused

    def _unknown(self, *_: Any, **__: Any) -> Any:
        raise NotEnumerable("arithmetic on random numbers that has no closed form")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _unknown
    __truediv__ = __rtruediv__ = log = log1p = exp = _unknown
    hex = is_integer = as_integer_ratio = __reduce_ex__ = _refused

    def __copy__(self) -> "Coin":
        return self

    def __deepcopy__(self, _: Any) -> "Coin":
        return self
