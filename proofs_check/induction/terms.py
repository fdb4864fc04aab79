"""The terms that the steps of induction proofs compare.

The vocabulary is abstract: sympy's `p` and `q` stand for the entries p(x) and q(x) of one token, `pos(e)`
for the positive part, and `total` for the sum over all tokens, of which nothing is used but that it is
linear, and that rows have the masses they are given. z3's terms are statements about finitely many reals.
"""

from typing import Any

import sympy
import z3

p, q = sympy.symbols("p q", nonnegative=True)
"""Symbols that differ from token to token; all others are the same for all."""

a = sympy.Symbol("a", nonnegative=True)
"""The rate of a node: the probability with which it is to be kept."""

pos = sympy.Function("pos")
"""The positive part."""

ONE: Any = z3.RealVal(1)


def reals(names: str) -> list[Any]:
    """z3's real variables of these names."""
    return list(z3.Reals(names))


def least(u: Any, v: Any) -> Any:
    """min(u, v) of two z3 terms."""
    return z3.If(u < v, u, v)


def plus(u: Any) -> Any:
    """(u)+ of a z3 term."""
    return z3.If(u > 0, u, z3.RealVal(0))


def meet(u: Any, v: Any) -> Any:
    """min(u, v) of two sympy terms, written with the positive part."""
    return u - pos(u - v)


def total(expression: Any) -> Any:
    """The sum over the vocabulary, by linearity: rows p and q have mass 1, a positive part has the
    unknown mass `[e]`, and [-e] = [e] - total(e).
    """
    out = sympy.Integer(0)
    for term in sympy.Add.make_args(sympy.expand(_directed(expression))):
        rest, token = term.as_independent(p, q, pos, as_Add=False)
        if token in (p, q):
            out += rest
        elif isinstance(token, pos):
            out += rest * sympy.Symbol(f"[{token.args[0]}]", nonnegative=True)
        else:
            raise ValueError(f"no mass is known for {token}")
    return out


def _directed(expression: Any) -> Any:
    # The expression with pos(-e) written as pos(e) - e, for one of each pair e and -e.
    def value(e: Any) -> Any:
        e = sympy.expand(e)
        direction = min(e, sympy.expand(-e), key=sympy.default_sort_key)
        return pos(e) if e == direction else pos(direction) + e

    return sympy.sympify(expression).replace(pos, value)
