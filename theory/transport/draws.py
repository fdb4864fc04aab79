"""Laws of what is drawn at one node: only the *set* of drawn tokens matters to single-step transport.

Draws that agree in it are merged. Rows may hold rationals or floats.
"""

from collections.abc import Mapping
from math import comb
from typing import TypeAlias

from draftproof.theory.errors import BadInput
from draftproof.theory.rows import Number, Row, has_mass, likeliest, one, without

Draws: TypeAlias = Mapping[frozenset[int], Number]
"""The law of the set of drawn tokens."""

SETS = 2 * 10**6
"""Most sets of tokens that are listed."""


def with_replacement(q: Row, k: int) -> Draws:
    """The law of the set of k i.i.d. draws from q.

    >>> from draftproof.theory.numbers import exact
    >>> {tuple(t): mass for t, mass in with_replacement((exact("1/3"), exact("2/3")), 2).items()}
    {(0,): 1/9, (0, 1): 4/9, (1,): 4/9}
    """
    drawable = _drawable(q, k)
    law: dict[frozenset[int], Number] = {frozenset(): one(q)}
    for _ in range(k):
        after: dict[frozenset[int], Number] = {}
        for t, mass in law.items():
            for x in drawable:
                _gain(after, t | {x}, mass * q[x])
        law = after
    return law


def without_replacement(q: Row, k: int) -> Draws:
    """The law of the set of k draws from q, each without the earlier ones, while q has mass."""
    drawable = _drawable(q, k)
    law: dict[frozenset[int], Number] = {frozenset(): one(q)}
    for _ in range(min(k, len(drawable))):
        after: dict[frozenset[int], Number] = {}
        for t, mass in law.items():
            rest = [x for x in drawable if x not in t]
            left = sum((q[x] for x in rest[1:]), q[rest[0]])
            for x in rest:
                _gain(after, t | {x}, mass * q[x] / left)
        law = after
    return law


def top_and_sample(q: Row, n: int) -> Draws:
    """The law of Hu et al.'s draft: the n - 1 likeliest tokens and one sample from the others."""
    top = likeliest(q, n - 1)
    rest = without(q, *top)
    if not has_mass(rest):
        return {frozenset(top): one(q)}
    return {frozenset((*top, x)): mass for x, mass in enumerate(rest) if mass > 0}


def _gain(law: dict[frozenset[int], Number], t: frozenset[int], mass: Number) -> None:
    known = law.get(t)
    law[t] = mass if known is None else known + mass


def _drawable(q: Row, k: int) -> list[int]:
    if k < 1:
        raise BadInput(f"a draft has at least one token, not {k}")
    drawable = [x for x, mass in enumerate(q) if mass > 0]
    if not drawable:
        raise BadInput("nothing can be drawn from a proposal row without mass")
    if (count := comb(len(drawable), min(k, len(drawable)))) > SETS:
        raise BadInput(f"{count} sets of drafted tokens; at most {SETS} are listed")
    return drawable
