"""What a function returns: tokens, tokens padded with -1, or the number of accepted tokens and the next one,
or its row.

Each reading gets the `plain` result and the drafted tokens, returns the emitted tokens, the last perhaps as
the row that it is drawn from, and raises if the result is something else. READINGS are tried in order.
"""

from typing import Any

import numpy as np

LONGEST = 1_000  # largest number of tokens that a target may return
ROUNDED = 0.01  # largest distance from 1 of a row's sum, in any arithmetic


def plain(result: Any) -> Any:
    """Arrays and tensors as lists and numbers, those in a short list or tuple too; anything else as it is."""
    if hasattr(result, "tolist"):
        return result.tolist()
    if hasattr(result, "__array__"):
        return np.asarray(result).tolist()
    short = isinstance(result, list | tuple) and len(result) <= LONGEST
    return (tuple if isinstance(result, tuple) else list)(map(plain, result)) if short else result


def integers(values: Any) -> list[int]:
    """Token ids as a list; ValueError or TypeError for anything else."""
    _must(not isinstance(values, str | bytes | dict | set) and len(values) <= LONGEST)
    found: Any = list(values)
    while len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    _must(all(map(_is_whole, found)))
    return found


def _must(hold: bool) -> None:
    if not hold:
        raise ValueError("something else")


def _next(value: Any) -> Any:
    # A token, or the row that it is drawn from; None for anything else.
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    row = isinstance(value, list) and all(isinstance(each, float) and each >= 0 for each in value)
    return value if _is_whole(value) or (row and abs(sum(value) - 1) < ROUNDED) else None


def _number(value: Any) -> Any:
    _must(_is_whole(number := _next(value)))
    return number


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _kept(x: list[int], accepted: int, token: Any) -> list[Any]:
    if token in (None, -1) and accepted == len(x):  # no extra token where all are accepted
        return [*x]
    _must(0 <= accepted <= len(x) and (last := _next(token)) is not None)
    return [*x[:accepted], last]


def _tokens(result: Any, x: list[int]) -> list[int]:
    found = integers(result)
    _must(not isinstance(result, tuple) or len(result) != 2 or found[0] == x[0])  # else two other numbers
    return found


def _padded(result: Any, x: list[int]) -> list[int]:
    found = integers(result[0] if isinstance(result, tuple) else result)
    _must(len(found) <= len(x) + 1)  # fewer where a batch is padded to its longest request
    if isinstance(result, tuple) and len(found) == 1:  # else perhaps a count, beside the next token
        _must(all(_next(each) in (None, 1) for each in result[1:]))
    if isinstance(result, tuple) and len(found) > len(x) and min(found) >= 0:  # else padded with an id
        _must(not any(_is_whole(each) and each < len(x) for each in map(_next, result[1:])))
    while found and found[-1] < 0:
        found.pop()
    return found


def _tokens_and_count(result: Any, x: list[int]) -> list[int]:
    tokens, accepted = result
    found, count = integers(tokens), _number(accepted)
    _must(count < len(found) <= len(x) + 1 and found[:count] == x[:count])
    return _kept(x, count, found[count])


def _count_and_token(result: Any, x: list[int]) -> list[int]:
    count, token = result
    return _kept(x, _number(count), token)


def _accepted_and_token(result: Any, x: list[int]) -> list[int]:
    accepted, token = result
    found = integers(accepted)
    _must(found == x[: len(found)])
    return _kept(x, len(found), token)


def _mask_and_token(result: Any, x: list[int]) -> list[int]:
    mask, token = result
    found = list(mask)
    _must(len(found) == len(x) and all(isinstance(each, bool) for each in found))
    return _kept(x, [*found, False].index(False), token)


READINGS = (
    _tokens,
    _padded,
    _tokens_and_count,
    _accepted_and_token,
    _mask_and_token,
    _count_and_token,
    lambda result, x: _count_and_token(result[::-1], x),  # the token first
)
