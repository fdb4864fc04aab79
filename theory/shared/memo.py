"""A cache for functions of exact rows."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from flint import fmpq

Result = TypeVar("Result")


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


def _ids(argument: tuple) -> Any:
    # Of a row its own; of what may be a new tuple of the same rows or tokens, theirs.
    return tuple(map(id, argument)) if argument and type(argument[0]) is not fmpq else id(argument)


def remembered(maxsize: int) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Caches about `maxsize` results of a function. Arguments that cannot be hashed are not cached: symbols,
    for instance, whose equality depends on the cell of a proof.

    The same objects are known by their ids. Others are looked up by nearby floats, since a rational's own
    hash takes 60 times as long, and found if they are equal, exactly.

    >>> calls = []
    >>> total = remembered(16)(lambda row: calls.append(row) or sum(row))
    >>> total((1, 2)), total((1, 2)), total([1, 2]), total([1, 2]), len(calls)
    (3, 3, 3, 3, 3)
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        same: dict[tuple, tuple[tuple, Result]] = {}  # ids of arguments, which it keeps alive
        alike: dict[Any, tuple[tuple, Result]] = {}

        @wraps(function)
        def call(*arguments: Any) -> Result:
            ids = tuple(map(id, arguments))
            if ids in same:
                return same[ids][1]
            ids = tuple([_ids(each) if type(each) is tuple else id(each) for each in arguments])
            if ids in same:
                return same[ids][1]
            try:
                found = alike.get(near := _near(arguments))
            except TypeError:
                return function(*arguments)
            if found is None or found[0] != arguments:
                found = arguments, function(*arguments)
                if len(alike) >= maxsize:
                    alike.clear()
                alike[near] = found
            if len(same) >= maxsize:
                same.clear()
            same[ids] = arguments, found[1]
            return found[1]

        return call

    return decorate
