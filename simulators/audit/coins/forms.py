"""A function f of one coin as a sequence of steps: where it crosses a number, and whether its shape is one
that can be compared with a function of another coin.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.coins.state import dyadic

Steps = tuple[tuple[str, float], ...]

MOST_OFF = 1e-3  # a shape that is further off is none

_STEP = {
    "+": lambda x, c: x + c,
    "*": lambda x, c: x * c,
    "/": lambda x, c: x / c,
    "c/": lambda x, c: c / x,
    "log": lambda x, c: np.log(x),
    "log1p": lambda x, c: np.log1p(x),
    "exp": lambda x, c: np.exp(x),
    "max": lambda x, c: max(x, x.dtype.type(c)),
    "min": lambda x, c: min(x, x.dtype.type(c)),
}


class Form(NamedTuple):
    """A shape of f(u), `rising` or falling. "u": c u;  "E": a + c E;  "1/E": c / E;  "G": a - c log E;  with
    E = -log u, or where it is a `mirror` image -log(1 - u) and 1 - u for u; "" is any other. `off` bounds the
    total variation between f(u) and that shape. The law of u + e is uniform, and that of E + e exponential,
    within total variation e: so races with an epsilon are decided.
    """

    name: str = "u"
    a: float = 0.0
    c: float = 1.0
    off: float = 0.0
    mirror: bool = False
    rising: bool = True


@lru_cache(maxsize=65536)
def form(steps: Steps, kind: type) -> Form:
    """The shape of f, computed in `kind`."""
    if not steps:
        return Form()
    *before, (step, number) = steps
    by, known = float(number), form(tuple(before), kind)
    name, a, c, off, mirror, rising = known
    match step:
        case "+" if (name, c, off, by) == ("u", -1, 0, 1):
            c, mirror = 1.0, not mirror
        case "+" if by:
            a, off = (a, off + abs(by / c)) if name == "u" else (a + by, off)
            name = name * (name != "1/E")
        case "*" | "/":
            by = by if step == "*" else 1 / by
            a, c, rising = a * by, c * by, rising == (by > 0)
        case "c/":
            name, off = {"E": "1/E", "1/E": "E"}.get(name, ""), off + abs(a / c)
            a, c, rising = 0.0, by / c, rising == (by < 0)
        case "log1p":
            return form((*before, ("+", 1.0), ("log", 0.0)), kind)
        case "log":
            logs = {"u": ("E", -1.0), "E": ("G", -1.0), "1/E": ("G", 1.0)}
            a, off = float(np.log(abs(c))), off + abs(a / c)
            name, c = logs.get(name * (c > 0), ("", 1.0))
        case "exp":
            shape = {("E", -1.0): "u", ("G", 1.0): "1/E", ("G", -1.0): "E"}.get((name, c), "")
            name, a, c = shape, 0.0, float(np.exp(a)) if shape else 1.0
        case "max" | "min":
            cut = float(crossing(tuple(before), kind, rising, by))
            off += cut if (step == "max") == rising else 1 - cut
    return Form(name * (off <= MOST_OFF), a, c, off, mirror, rising)


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
            if bool(value(steps, integer(middle).view(kind)) < t) == rising:
                low = middle + 1
            else:
                high = middle
    return dyadic(float(integer(low).view(kind)))


def value(steps: Steps, u: Any) -> Any:
    """f(u)."""
    for step, c in steps:
        u = _STEP[step](u, c)
    return u
