"""torch functions that only move elements about, and those that do not look at them."""

from typing import Any

import numpy as np
import torch

from draftproof.simulators.audit.randomness.torch_mode.shadows import Shadows

CASTS = frozenset(["to", "float", "double", "half", "type", "cpu", "contiguous", "clone", "detach"])
"""Functions that keep every element where it is."""

MOVES = CASTS | frozenset(
    [
        "reshape",
        "view",
        "squeeze",
        "unsqueeze",
        "getitem",
        "transpose",
        "permute",
        "flatten",
        "unflatten",
        "expand",
        "expand_as",
        "view_as",
        "repeat",
        "select",
        "narrow",
        "index_select",
        "gather",
        "take_along_dim",
        "chunk",
        "split",
        "unbind",
        "cat",
        "concat",
        "stack",
        "flip",
        "roll",
        "masked_select",
        "tile",
        "broadcast_to",
        "movedim",
        "t",
    ]
)
"""Functions of shape and place alone."""

BLIND = frozenset(
    [
        "get",
        "set",
        "size",
        "dim",
        "numel",
        "stride",
        "is_floating_point",
        "empty_like",
        "zeros_like",
        "ones_like",
        "full_like",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
        "new_tensor",
        "requires_grad_",
        "is_contiguous",
        "element_size",
        "nelement",
        "len",
        "hash",
        "repr",
        "record_stream",
        "is_complex",
        "ndimension",
    ]
)
"""Functions that look at a tensor's shape and type, not at what it holds."""


def reshaped(shadows: Shadows, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The coins of func(*args, **kwargs), found by applying func to their indices."""
    pool: list[Any] = []
    like: list[torch.Tensor] = []

    def indexed(value: Any, depth: int = 0) -> Any:
        if isinstance(value, torch.Tensor) and (shadows.met(value) or depth):
            start = len(pool)
            pool.extend(shadows.array(value).ravel().tolist())
            like.append(value)
            return torch.arange(start, len(pool)).reshape(value.shape)
        if depth == 0 and isinstance(value, list | tuple) and shadows.met(value):
            return type(value)(indexed(each, 1) for each in value)
        return value

    cast = func.__name__ in CASTS
    places = indexed(args[0])
    moved = places if cast else func(places, *args[1:], **kwargs)

    def back(index: Any) -> Any:
        if isinstance(index, tuple | list):
            return type(index)(map(back, index))
        values = np.empty(index.numel(), dtype=object)
        values[:] = [pool[i] for i in index.ravel().tolist()]
        return shadows.made(values.reshape(tuple(index.shape)), like[0])

    return back(moved)
