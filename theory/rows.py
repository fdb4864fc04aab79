"""The few operations on rows that every verifier is written in.

A *row* is a next-token law or a part of one: `row[x]` is the mass of token x. Two forms share
one vocabulary, so that a verifier never knows which one it holds:

* a tuple of V numbers of any one kind: exact rationals, floats, symbols that answer `<`;
* a numpy array of shape [V, lanes]: one lane an instance, all lanes in step; or of shape [V]: float64, one
  row over a large vocabulary.

A *number* is accordingly one number, or an array with one entry a lane. Every comparison a
verifier needs is made here, once: what 0/0 is, what x/0 is, and that mass is `> 0`, not `!= 0`.
"""
# Two arguments of a function are of one form, which their types do not say.
# pyright: reportArgumentType=false, reportCallIssue=false

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
from flint import fmpq

ONE = fmpq(1)


class Number(Protocol):
    """What takes part in arithmetic and comparison: one number, or an array with one entry a lane."""

    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, /) -> Any: ...
    def __lt__(self, other: Any, /) -> Any: ...
    def __gt__(self, other: Any, /) -> Any: ...
    def __le__(self, other: Any, /) -> Any: ...
    def __ge__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...


class Row(Protocol):
    """What has numbers by index: a tuple of V of them, or an array of shape [V, lanes]."""

    def __getitem__(self, index: Any, /) -> Any: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...


Prefix: TypeAlias = tuple[int, ...]


class LanesDiffer(Exception):
    """Lanes must go different ways: `mask` says which of them answer yes."""

    def __init__(self, mask: np.ndarray):
        super().__init__("lanes need different structures")
        self.mask = mask


def above(number: Number) -> bool:
    """Whether one number is above 0; a float says it of a rational in a sixth of the time of `>`."""
    if type(number) is fmpq:
        try:
            return (near := float(number)) > 0.0 or (near == 0.0 and bool(number) and number > 0)
        except OverflowError:
            pass
    return number > 0


def one(like: Row) -> Number:
    """The number 1 of the kind that fills the row `like`."""
    if isinstance(like, np.ndarray):
        return np.ones_like(like[0])
    return ONE if (number := type(like[0])) is fmpq else number(1)


def share(part: Number, whole: Number) -> Number:
    """min(1, part / whole), and 1 when the whole is 0.

    The acceptance probability of the whole field: of a drafted token it is `share(p, q)`; a
    drafted token has q > 0, so the value at 0 is only ever met where nothing is drafted, or as
    the 0/0 of a branch with neither excess nor deficit, which is accepted.

    >>> from draftproof.theory.numbers import exact
    >>> share(exact("1/3"), exact("2/3")), share(exact("2/3"), exact("1/3")), share(exact(0), exact(0))
    (1/2, 1, 1)
    """
    if isinstance(whole, np.ndarray):
        return np.divide(np.minimum(part, whole), whole, out=np.ones_like(whole), where=whole > 0)
    if above(whole - part) if type(whole) is fmpq else part < whole:
        return part / whole
    return one((whole,))


def ratio(part: Number, whole: Number) -> Number:
    """part / whole, uncapped; 1 when the whole is 0, which no drafted token meets."""
    if isinstance(whole, np.ndarray):
        return np.divide(part, whole, out=np.ones_like(whole), where=whole > 0)
    return part / whole if above(whole) else one((whole,))


def maximum(a: Number, b: Number) -> Number:
    """The larger of two numbers."""
    return np.maximum(a, b) if isinstance(a, np.ndarray) else (b if a < b else a)


def minimum(a: Number, b: Number) -> Number:
    """The smaller of two numbers."""
    return np.minimum(a, b) if isinstance(a, np.ndarray) else (b if b < a else a)


def positive(a: Number) -> Number:
    """The positive part (a)+."""
    return np.maximum(a, 0.0) if isinstance(a, np.ndarray) else (a if above(a) else type(a)(0))


def excess(p: Row, q: Row) -> Row:
    """(p - q)+ token by token: where p has more mass than q.

    >>> from draftproof.theory.numbers import exact
    >>> excess((exact("1/3"), exact("2/3")), (exact("2/3"), exact("1/3")))
    (0, 1/3)
    """
    if isinstance(p, np.ndarray):
        return np.maximum(p - q, 0.0)
    zero = type(p[0])(0)
    return tuple([d if above(d := a - b) else zero for a, b in zip(p, q, strict=True)])


def meet(p: Row, q: Row) -> Row:
    """min(p, q) token by token: the mass that p and q share."""
    if isinstance(p, np.ndarray):
        return np.minimum(p, q)
    return tuple([minimum(a, b) for a, b in zip(p, q, strict=True)])


def scale(factor: Number, row: Row) -> Row:
    """factor * row."""
    if isinstance(row, np.ndarray):
        return factor * row
    return row if factor is ONE else tuple([factor * a for a in row])


def add(p: Row, q: Row) -> Row:
    """p + q token by token."""
    if isinstance(p, np.ndarray):
        return p + q
    return tuple([a + b for a, b in zip(p, q, strict=True)])


def total(row: Row) -> Number:
    """The mass of the row."""
    if isinstance(row, np.ndarray):
        return row.sum(axis=0)
    return sum(row[1:], row[0])


def normalise(row: Row) -> Row:
    """The row divided by its mass; a row without mass stays as it is, and nothing draws from it."""
    mass = total(row)
    if isinstance(row, np.ndarray):
        return row / np.where(mass > 0, mass, 1.0)
    if above(mass):
        return tuple([a / mass for a in row])
    return row


def otherwise(row: Row, other: Row) -> Row:
    """The row, or `other` where it has no mass."""
    mass = total(row)
    if isinstance(row, np.ndarray):
        return np.where(mass > 0, row, other)
    return row if above(mass) else other


def without(row: Row, *tokens: int) -> Row:
    """The row conditioned on being none of the tokens: their entries emptied, the rest renormalised.

    >>> from draftproof.theory.numbers import exact
    >>> without((exact("1/2"), exact("1/4"), exact("1/4")), 0)
    (0, 1/2, 1/2)
    """
    if isinstance(row, np.ndarray):
        rest = row.copy()
        rest[list(tokens)] = 0.0
        return normalise(rest)
    return normalise(tuple([type(mass)(0) if x in tokens else mass for x, mass in enumerate(row)]))


def point(token: int, like: Row) -> Row:
    """The row with all its mass on `token`, in the numbers of the row `like`."""
    if isinstance(like, np.ndarray):
        row = np.zeros_like(like)
        row[token] = 1.0
        return row
    number = type(like[0])
    return tuple([number(x == token) for x in range(len(like))])


def descending(row: Row) -> list[int]:
    """Token ids, largest mass first, ties by id. Orders tokens: one lane at a time only."""
    if isinstance(row, np.ndarray):
        if row.ndim > 1:
            raise TypeError("tokens are ordered one instance at a time, not lane by lane in step")
        return np.argsort(-row, kind="stable").tolist()
    return sorted(range(len(row)), key=row.__getitem__, reverse=True)


def supported(row: Row) -> int:
    """How many tokens of a row can be drawn, one instance at a time only."""
    if isinstance(row, np.ndarray):
        return int((row > 0).sum())
    return sum(bool(mass > 0) for mass in row)


def likeliest(row: Row, count: int) -> list[int]:
    """The `count` first of `descending`, none of probability zero."""
    return [x for x in descending(row)[:count] if row[x] > 0]


def possible(number: Number) -> bool:
    """Whether the number is above zero, in any lane."""
    return bool((number > 0).any()) if isinstance(number, np.ndarray) else above(number)


def has_mass(row: Row) -> bool:
    """Whether anything can be drawn from the row; raises LanesDiffer where lanes disagree."""
    mass = total(row)
    if not isinstance(mass, np.ndarray):
        return above(mass)
    mask = mass > 0
    if mask.any() and not mask.all():
        raise LanesDiffer(mask)
    return bool(mask.all())
