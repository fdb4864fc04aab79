"""A cache for functions of exact rows."""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

from flint import fmpq

Result = TypeVar("Result")


class Key:
    """Arguments hashed by nearby floats, since a rational's own hash takes 60 times as long.

    Keys are equal when the arguments are, exactly. Raises TypeError for what cannot be hashed.

    >>> from draftproof.theory.numbers import exact
    >>> third = exact("1/3")
    >>> Key(((third, 1 - third), 2)) == Key(((third, third * 2), 2)), Key((third,)) == Key((third / 2,))
    (True, False)
    """

    __slots__ = ("_hash", "arguments")

    def __init__(self, arguments: tuple):
        self.arguments = arguments
        self._hash = hash(_near(arguments))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.arguments == other.arguments


def _near(argument: Any) -> Any:
    kind = type(argument)
    try:
        if kind is fmpq:
            return float(argument)
        if kind is tuple and argument and type(argument[0]) is fmpq:
            return tuple(map(float, argument))
    except (OverflowError, TypeError):
        pass
    return tuple(map(_near, argument)) if isinstance(argument, tuple) else argument


def remembered(maxsize: int) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """`functools.lru_cache`, except that arguments that cannot be hashed are not cached: symbols, for
    instance, whose equality depends on the cell of a proof.

    >>> calls = []
    >>> total = remembered(16)(lambda row: calls.append(row) or sum(row))
    >>> total((1, 2)), total((1, 2)), total([1, 2]), total([1, 2]), len(calls)
    (3, 3, 3, 3, 3)
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        cached = lru_cache(maxsize)(lambda key: function(*key.arguments))

        @wraps(function)
        def call(*arguments: Any) -> Result:
            try:
                key = Key(arguments)
            except TypeError:
                return function(*arguments)
            return cached(key)

        return call

    return decorate
