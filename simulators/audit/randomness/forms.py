"""Shapes of f(u) that are known by name, and races: comparisons of one coin with another."""

from typing import Any

import numpy as np
from flint import fmpq

from draftproof.simulators.audit.randomness import volumes
from draftproof.simulators.audit.randomness.coin_state import NotEnumerable, dyadic
from draftproof.theory.numbers import ONE, ZERO

Form = tuple[str, float, float] | None
"""("u", 0, c): c u;  ("E", a, c): a + c E;  ("1/E", 0, c): c / E;  ("G", a, c): a - c log E;
("X", 0, c): exp(-c E);  with E = -log u, of a mirrored coin with 1 - u in the place of u."""

UNIFORM: Form = ("u", 0.0, 1.0)


def scaled(form: Form, c: float) -> Form:
    """The form of c f(u)."""
    if form is None or form[0] == "X":
        return None
    return form[0], form[1] * c, form[2] * c


def moved(form: Form, by: float) -> Form:
    """The form of f(u) + by."""
    return (form[0], float(form[1] + by), form[2]) if form and form[0] in ("E", "G") else None


def inverted(form: Form, c: float) -> Form:
    """The form of c / f(u)."""
    if form and form[0] == "E" and not form[1]:
        return "1/E", 0.0, c / form[2]
    return ("E", 0.0, c / form[2]) if form and form[0] == "1/E" else None


def logged(form: Form) -> Form:
    """The form of log f(u)."""
    if form is None:
        return None
    name, a, c = form
    if name == "X":
        return "E", 0.0, -c
    if a or c <= 0:
        return None
    log_c = float(np.log(c))
    return {"u": ("E", log_c, -1.0), "E": ("G", log_c, -1.0), "1/E": ("G", log_c, 1.0)}.get(name)


def exponentiated(form: Form) -> Form:
    """The form of exp f(u)."""
    if form and form[0] == "E" and form[2] == -1:
        return "u", 0.0, float(np.exp(form[1]))
    if form and form[0] == "G" and abs(form[2]) == 1:
        return "1/E" if form[2] > 0 else "E", 0.0, float(np.exp(form[1]))
    return None


def less(x: Any, y: Any) -> bool:
    """x < y, for f(u) of two different coins: E_x >= ratio E_y, or the other way round."""
    if x.coin == y.coin:
        if x.steps == y.steps:
            return False
        raise NotEnumerable("a coin is compared with a function of itself")
    if not x.form or not y.form or x.form[0] != y.form[0]:
        raise NotEnumerable("coins are compared in a way that has no closed form")
    (name, a, c), (_, b, d) = x.form, y.form
    mirrors = x.mirror, y.mirror
    if c * d < 0 and name != "G" and a == b:
        return c < 0
    steep = dyadic(abs(c)) / dyadic(abs(d))
    if name == "u" and c == d:
        x_slower, ratio = c > 0, ONE
    elif name == "X":
        x_slower, ratio = c > 0, 1 / steep
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


def exponential(x: Any) -> fmpq:
    """exp(x) to about 2^-BITS, exact at 0 and at minus infinity; 1 at infinity."""
    if isinstance(x, float) and abs(x) == np.inf:
        return ONE if x > 0 else ZERO
    return volumes.exponential(x if isinstance(x, fmpq) else dyadic(x))
