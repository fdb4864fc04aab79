"""Remembered results, where the arguments can be remembered."""

from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from typing import Any, TypeVar

Result = TypeVar("Result")


def remembered(maxsize: int) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """`functools.lru_cache`, except that arguments which cannot be hashed are computed with anew:
    whether two symbols are equal depends on where one stands.

    >>> calls = []
    >>> total = remembered(16)(lambda row: calls.append(row) or sum(row))
    >>> total((1, 2)), total((1, 2)), total([1, 2]), total([1, 2]), len(calls)
    (3, 3, 3, 3, 3)
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        cached = lru_cache(maxsize)(function)

        @wraps(function)
        def call(*arguments: Any) -> Result:
            return cached(*arguments) if _hashable(arguments) else function(*arguments)

        return call

    return decorate


def _hashable(arguments: tuple[Hashable, ...]) -> bool:
    try:
        hash(arguments)
    except TypeError:
        return False
    return True
