"""The shapes of a function of one coin for which it can be compared with a function of another coin."""

import numpy as np

Form = tuple[str, float, float] | None
"""A shape of f(u). ("u", 0, c): c u;  ("E", a, c): a + c E;  ("1/E", 0, c): c / E;  ("G", a, c): a - c log E;
("X", 0, c): exp(-c E);  with E = -log u, or E = -log(1 - u) for a mirrored coin."""

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
