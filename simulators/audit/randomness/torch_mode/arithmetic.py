"""Elementwise functions on object arrays of numbers and coins, by the name that torch gives them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from draftproof.simulators.audit.randomness.lazy import Coin

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "radd": lambda a, b: b + a,
    "sub": lambda a, b: a - b,
    "subtract": lambda a, b: a - b,
    "rsub": lambda a, b: b - a,
    "mul": lambda a, b: a * b,
    "multiply": lambda a, b: a * b,
    "rmul": lambda a, b: b * a,
    "div": lambda a, b: a / b,
    "divide": lambda a, b: a / b,
    "true_divide": lambda a, b: a / b,
    "truediv": lambda a, b: a / b,
    "rdiv": lambda a, b: b / a,
    "rtruediv": lambda a, b: b / a,
    "pow": lambda a, b: a**b,
    "maximum": lambda a, b: extreme(a, b, True),
    "minimum": lambda a, b: extreme(a, b, False),
}
COMPARE = {
    **dict.fromkeys(("lt", "less"), np.less),
    **dict.fromkeys(("le", "less_equal"), np.less_equal),
    **dict.fromkeys(("gt", "greater"), np.greater),
    **dict.fromkeys(("ge", "greater_equal"), np.greater_equal),
    **dict.fromkeys(("eq",), np.equal),
    **dict.fromkeys(("ne", "not_equal"), np.not_equal),
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lambda a: -a,
    "negative": lambda a: -a,
    "log": np.log,
    "log1p": np.log1p,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "reciprocal": lambda a: 1.0 / a,
}


def extreme(a: np.ndarray, b: np.ndarray, largest: bool) -> np.ndarray:
    """The larger or the smaller of each pair; of a coin and a number, the coin capped."""
    a, b = np.broadcast_arrays(a, b)
    out = np.empty(a.shape, dtype=object)
    for at in np.ndindex(a.shape):
        x, y = (a[at], b[at]) if isinstance(a[at], Coin) else (b[at], a[at])
        capped = getattr(x, "capped", None)
        out[at] = capped(float(y), largest) if capped else (max(x, y) if largest else min(x, y))
    return out
