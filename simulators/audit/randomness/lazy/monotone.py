"""Monotone functions of one coin."""

from typing import Any

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.randomness.lazy.coin import Coin, number
from draftproof.simulators.audit.randomness.lazy.forms import (
    UNIFORM,
    Form,
    exponentiated,
    inverted,
    less,
    logged,
    moved,
    scaled,
)
from draftproof.simulators.audit.randomness.lazy.product import product
from draftproof.simulators.audit.randomness.lazy.steps import Steps, crossing, value
from draftproof.simulators.audit.randomness.world import NotEnumerable, World

NEGLIGIBLE = fmpq(1, 2**60)


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
        form: Form = UNIFORM,
        mirror: bool = False,
    ):
        self.world, self.coin, self.kind = world, coin, kind
        self.steps, self.rising, self.form, self.mirror = steps, rising, form, mirror

    def _then(self, step: str, c: Any, rising: bool, form: Form, mirror: bool | None = None) -> "Lazy":
        mirror = self.mirror if mirror is None else mirror
        up = self.rising == rising
        return Lazy(self.world, self.coin, self.kind, (*self.steps, (step, c)), up, form, mirror)

    def _below(self, t: float) -> bool:
        cut = crossing(self.steps, self.kind, self.rising, float(t))
        low = self.world.below(self.coin, cut)
        return low if self.rising else not low

    def _less(self, other: Any) -> Any:
        if isinstance(other, Lazy):
            return less(self, other)
        return super()._less(other)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Coin):
            return product(self, True) + other
        c = number(other)
        if c is None:
            return NotImplemented
        if c != c or abs(c) == np.inf:
            return self.kind(c)
        kept = moved(self.form, c) if c else self.form
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
        if self.form == UNIFORM and c == 1:
            return self._then("c-", c, False, self.form, not self.mirror)
        return self._then("c-", c, False, moved(scaled(self.form, -1.0), c))

    def _one_sided(self) -> None:  # 1/x and x^c are monotone on one side of 0
        with np.errstate(all="ignore"):
            ends = [value(self.steps, self.kind(u)) for u in (0.0, 1.0)]
        if min(ends) < 0 < max(ends):
            raise NotEnumerable("a coin is divided by, or raised, on both sides of 0")

    def __neg__(self) -> "Lazy":
        return self._then("*", -1.0, False, scaled(self.form, -1.0))

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
        return self._then("*", c, bool(c > 0), scaled(self.form, float(c)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            return NotImplemented
        if c == 0:
            return self.kind(np.inf) if not self < 0 else self.kind(-np.inf)
        if c != c or abs(c) == np.inf:
            return self.kind(0 * c if c == c else c)
        return self._then("/", c, bool(c > 0), scaled(self.form, 1 / float(c)))

    def __rtruediv__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            return NotImplemented
        if c == 0 or c != c:
            return self.kind(c)
        self._one_sided()
        return self._then("c/", c, bool(c < 0), inverted(self.form, float(c)))

    def __pow__(self, other: Any) -> Any:
        c = number(other)
        if c is None:
            raise NotEnumerable("a power of a coin that has no monotone account")
        self._one_sided()
        if c == 0:
            return self.kind(1)
        form = ("X", 0.0, float(c)) if self.form == UNIFORM and c > 0 else None
        return self._then("**", c, bool(c > 0), form)

    def log(self) -> Any:
        return self._then("log", 0.0, True, logged(self.form))

    def log1p(self) -> Any:
        negated = self.form == ("u", 0.0, -1.0)  # log(1 + -u), numerically careful
        return self._then("log1p", 0.0, True, ("E", 0.0, -1.0) if negated else None, not self.mirror)

    def exp(self) -> Any:
        return self._then("exp", 0.0, True, exponentiated(self.form))

    def sqrt(self) -> Any:
        return self._then("sqrt", 0.0, True, None)

    def capped(self, c: float, largest: bool) -> "Lazy":
        """max(f(u), c), or min: monotone still. Races are not told of a cap met less than 2^-60 often."""
        cut = crossing(self.steps, self.kind, self.rising, float(c))
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
