"""Where a chain of monotone steps crosses a number, in the very arithmetic it is computed in."""

from functools import lru_cache
from typing import Any

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.randomness.world import dyadic

Steps = tuple[tuple[str, float], ...]

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


@lru_cache(maxsize=65536)
def crossing(steps: Steps, kind: type, rising: bool, t: float) -> fmpq:
    """The u where f crosses t: below it f(u) < t when f rises, above it when f falls.

    Found by bisection over the floats of `kind`.

    >>> crossing((("*", 4.0),), np.float64, True, 1.0)
    1/4
    """
    if not steps:
        return dyadic(min(max(t, 0.0), 1.0))
    low, high = 0, int(_order(kind(1.0)))
    with np.errstate(all="ignore"):
        while low < high:
            middle = (low + high) // 2
            if bool(value(steps, _from_order(middle, kind)) < t) == rising:
                low = middle + 1
            else:
                high = middle
    return dyadic(float(_from_order(low, kind)))


def value(steps: Steps, u: Any) -> Any:
    """f(u)."""
    for step, c in steps:
        u = _STEP[step](u, c)
    return u


_INTEGER = {np.float64: np.int64, np.float32: np.int32, np.float16: np.int16}


def _order(x: Any) -> Any:
    return x.view(_INTEGER[type(x)])


def _from_order(i: int, kind: type) -> Any:
    return _INTEGER[kind](i).view(kind)
