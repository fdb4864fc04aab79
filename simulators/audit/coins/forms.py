"""The shapes of a function of one coin for which it can be compared with a function of another coin."""

import numpy as np

Form = tuple[str, float, float, float] | None
"""A shape of f(u). ("u", 0, c, off): c u;  ("E", a, c, off): a + c E;  ("1/E", 0, c, off): c / E;
("G", a, c, off): a - c log E;  with E = -log u, or E = -log(1 - u) for a
mirrored coin. `off` bounds the total variation between f(u) and that shape. The law of u + e is
uniform, and that of E + e exponential, within total variation e: so races with an epsilon are decided."""

UNIFORM: Form = ("u", 0.0, 1.0, 0.0)
MOST_OFF = 1e-3  # a shape that is further off is none


def off_by(form: Form, more: float) -> Form:
    """The form with `more` total variation between it and f(u); None if that is too much."""
    return (*form[:3], form[3] + more) if form and form[3] + more <= MOST_OFF else None


def scaled(form: Form, c: float) -> Form:
    """The form of c f(u)."""
    if form is None:
        return None
    return form[0], form[1] * c, form[2] * c, form[3]


def moved(form: Form, by: float) -> Form:
    """The form of f(u) + by."""
    if form and form[0] == "u":
        return off_by(form, abs(by / form[2]))
    return (form[0], float(form[1] + by), *form[2:]) if form and form[0] in ("E", "G") else None


def inverted(form: Form, c: float) -> Form:
    """The form of c / f(u)."""
    if form and form[0] in ("E", "1/E"):
        name = {"E": "1/E", "1/E": "E"}[form[0]]
        return off_by((name, 0.0, c / form[2], form[3]), abs(form[1] / form[2]))
    return None


def logged(form: Form) -> Form:
    """The form of log f(u)."""
    if form is None:
        return None
    name, a, c, off = form
    if c <= 0 or name == "G":
        return None
    shape, sign = {"u": ("E", -1.0), "E": ("G", -1.0), "1/E": ("G", 1.0)}[name]
    return off_by((shape, float(np.log(c)), sign, off), abs(a / c))


def exponentiated(form: Form) -> Form:
    """The form of exp f(u)."""
    if form and form[0] == "E" and form[2] == -1:
        return "u", 0.0, float(np.exp(form[1])), form[3]
    if form and form[0] == "G" and abs(form[2]) == 1:
        return "1/E" if form[2] > 0 else "E", 0.0, float(np.exp(form[1])), form[3]
    return None
