"""A network once more for a test, without a copy of its weights: in a wider type, or with short lengths."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from draftproof.gpu.network.reader import ORIGINAL, ropes

AT_ONCE = 2**24
"""Weights of a product that are converted at once."""

SHORT = 24
"""Longer lengths are shortened to this during the test, so that short texts cross them."""

CASTS = "to", "float", "bfloat16", "half", "type", "type_as"
"""Methods that would make a tensor narrow again, as the type of some weights."""

LENGTHS = re.compile(
    r"(.*_)?window(_size|_len)?|local_attention|(.*_)?attention_chunk_size|floor_scale|index_topk|" + ORIGINAL
)
"""Names of settings at whose number of tokens a network changes what it does."""


class Wider(TorchFunctionMode):
    """Operations on tensors of the type `dtype` convert the others to it one at a time, so that a network is
    computed in this type as if all weights had been converted, and takes little memory beside them.
    """

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is functional.embedding:
            return self.wide(func(*args, **kwargs))
        name = getattr(func, "__name__", "")
        changes = name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))
        reads = name in ("__get__", "__set__") or name.startswith("is_")
        given = args[:1] if changes else (args, kwargs)  # what is changed in place keeps its type
        if reads or not any(
            isinstance(each, Tensor) and each.dtype == self.dtype for each in tree_leaves(given)
        ):
            return func(*args, **kwargs)
        if name in CASTS and self.wide(made := func(*args, **kwargs)) is not made:
            return args[0].to(made.device)
        if func is functional.linear and (args[1].dtype, args[1].numel() > AT_ONCE) != (self.dtype, False):
            return self.linear(*args, **kwargs)
        args, named = tree_map(self.wide, (args, kwargs))
        return func(*args, **named)

    def wide(self, each: Any) -> Any:
        """Tensors of narrower float types in this one."""
        narrow = isinstance(each, Tensor) and each.is_floating_point() and each.itemsize < self.dtype.itemsize
        return each.to(self.dtype) if narrow else each

    def linear(self, given: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """A product, with a part of the weights at a time."""
        size = max(1, AT_ONCE // weight.shape[1])
        parts = [functional.linear(self.wide(given), self.wide(rows)) for rows in weight.split(size)]
        made = parts[0] if len(parts) == 1 else torch.cat(parts, -1)
        return made if bias is None else made + bias


@contextmanager
def computed_in(network: Any, dtype: torch.dtype) -> Iterator[None]:
    """Passes of the network compute in this type, if its own is narrower. Experts are computed one by one,
    since grouped products know few types.
    """
    with ExitStack() as afterwards:
        afterwards.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(dtype)
        if network._can_set_experts_implementation():
            afterwards.callback(network.set_experts_implementation, network.get_experts_implementation())
            network.set_experts_implementation("eager")
        with Wider(dtype):
            yield


def shortened(network: Any) -> Any:
    """A network with the same weights, not copied, of which all lengths (see `LENGTHS`) are at most `SHORT`;
    the network itself if all of them are. Of a table with a row for each place it has the first rows.
    """
    config = deepcopy(network.config)
    text = config.get_text_config(decoder=True)
    if not _shorten(vars(text), any(rope["rope_type"] == "longrope" for rope in ropes(text))):
        return network
    register = nn.Module.register_parameter

    def without_memory(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        empty = None if parameter is None else nn.Parameter(parameter.to("meta"), requires_grad=False)
        register(module, name, empty)

    with patch.object(nn.Module, "register_parameter", without_memory):
        made = type(network)(config)
    sizes = made.state_dict()
    weights = {key: each for key, each in network.state_dict().items() if key in sizes}
    weights = {key: each[tuple(map(slice, sizes[key].shape))] for key, each in weights.items()}
    made.load_state_dict(weights, strict=False, assign=True)
    for module in made.modules():
        for name, buffer in module._buffers.items():
            module._buffers[name] = buffer if buffer is None else buffer.to(network.device)
    for hook in network._forward_hooks.values():
        made.register_forward_hook(hook)
    made.generation_config = deepcopy(network.generation_config)
    return made.eval().requires_grad_(False)


def _shorten(settings: dict[Any, Any], longrope: bool) -> bool:
    """Shortens the lengths among some settings; whether there were any. The length before a longrope bounds
    the context, which no text crosses.
    """
    found = False
    for name, value in settings.items():
        if isinstance(value, dict):
            found |= _shorten(value, longrope)
        elif isinstance(name, str) and LENGTHS.fullmatch(name) and not (longrope and name == ORIGINAL):
            several = value if isinstance(value, list) else [value]
            short = [SHORT if type(each) in (int, float) and each > SHORT else each for each in several]
            if short != several:
                settings[name], found = short if isinstance(value, list) else short[0], True
    return found
