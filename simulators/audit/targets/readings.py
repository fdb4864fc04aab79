"""What a function returns: tokens, tokens padded with -1, or the number of accepted tokens and the next one.

Each reading gets the `plain` result and the drafted tokens, returns the emitted tokens, and raises if the
result is something else. READINGS are tried in order.
"""

from typing import Any

import numpy as np

LONGEST = 1_000  # largest number of tokens that a target may return


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
    if isinstance(values, str | bytes | dict | set) or len(values) > LONGEST:
        raise ValueError("not a list of tokens")
    found = list(values)
    while len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    if not all(map(_is_whole, found)):
        raise ValueError("not token ids")
    return found


def _number(value: Any) -> Any:
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    if not _is_whole(value):
        raise ValueError("not a number of tokens")
    return value


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _kept(x: list[int], accepted: int, token: Any) -> list[int]:
    if not 0 <= accepted <= len(x):
        raise ValueError("not the number of accepted tokens")
    return [*x[:accepted], _number(token)]


def _tokens(result: Any, x: list[int]) -> list[int]:
    found = integers(result)
    if isinstance(result, tuple) and len(result) == 2 and found[0] != x[0]:
        raise ValueError("two numbers that are not tokens")
    return found


def _padded(result: Any, x: list[int]) -> list[int]:
    found = integers(result[0] if isinstance(result, tuple) else result)
    if len(found) > len(x) + 1:  # fewer where a batch is padded to its longest request
        raise ValueError("not padded")
    while found and found[-1] < 0:
        found.pop()
    return found


def _tokens_and_count(result: Any, x: list[int]) -> list[int]:
    tokens, accepted = result
    found, count = integers(tokens), _number(accepted)
    if not count < len(found) <= len(x) + 1 or found[:count] != x[:count]:
        raise ValueError("not the number of accepted tokens")
    return _kept(x, count, found[count])


def _count_and_token(result: Any, x: list[int]) -> list[int]:
    count, token = result
    return _kept(x, _number(count), token)


def _accepted_and_token(result: Any, x: list[int]) -> list[int]:
    accepted, token = result
    found = integers(accepted)
    if found != x[: len(found)]:
        raise ValueError("not the accepted tokens")
    return _kept(x, len(found), token)


def _mask_and_token(result: Any, x: list[int]) -> list[int]:
    mask, token = result
    found = list(mask)
    if len(found) != len(x) or not all(isinstance(each, bool) for each in found):
        raise ValueError("not which tokens are accepted")
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
