"""torch functions on tensors of coins: storage, arithmetic, comparisons, shapes.

A tensor of coins is a handle (a tensor of NaN with the right shape and type) with an associated array of lazy
numbers. Arithmetic works on these arrays, comparisons and arg-extrema are decided, and functions that only
move elements are applied to the elements' indices.
"""

from collections.abc import Callable
from functools import partialmethod
from typing import Any

import numpy as np
import torch

from draftproof.simulators.audit.randomness.coin_state import NotEnumerable, Opaque
from draftproof.simulators.audit.randomness.lazy import Coin

TopK = torch.return_types.topk


class CoinTensors:
    """Maps tensors to the coins that they hold."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[torch.Tensor, np.ndarray]] = {}

    def holds(self, value: Any) -> bool:
        """Whether there are coins in a tensor, in a number or anywhere in a list."""
        if isinstance(value, torch.Tensor):
            return id(value) in self._held
        if isinstance(value, tuple | list):
            return any(map(self.holds, value))
        return isinstance(value, Coin)

    def forget(self, tensor: Any) -> None:
        """Marks the tensor as holding plain numbers."""
        self._held.pop(id(tensor), None)

    def array(self, value: Any) -> np.ndarray:
        """The coins or numbers of a tensor or number, as an object array."""
        if isinstance(value, torch.Tensor):
            return self._held[id(value)][1] if id(value) in self._held else objects(value)
        array = np.empty((), dtype=object)
        array[()] = value
        return array

    def tensor(self, values: Any, like: Any) -> torch.Tensor:
        """A new tensor that holds the values, of the type of `like`."""
        if not isinstance(values, np.ndarray):
            values = self.array(values)
        dtype = like.dtype if isinstance(like, torch.Tensor) else torch.float32
        if not has_coins(values):
            return torch.from_numpy(values.astype(np.float64)).to(dtype)
        kind = dtype if dtype.is_floating_point else torch.float32
        handle = torch.full(values.shape, float("nan"), dtype=kind)
        self._held[id(handle)] = (handle, values)
        return handle

    def assign(self, tensor: torch.Tensor, values: Any) -> torch.Tensor:
        """Stores the values in the tensor and returns it."""
        if self.holds(values) and isinstance(values, torch.Tensor):
            values = self.array(values)
        if isinstance(values, np.ndarray) and has_coins(values):
            self._held[id(tensor)] = (tensor, values)
            return tensor
        self.forget(tensor)
        plain = values if isinstance(values, torch.Tensor) else torch.from_numpy(values.astype(np.float64))
        return tensor.copy_(plain.reshape(tensor.shape))


def has_coins(values: np.ndarray) -> bool:
    """Whether any of the values is lazy."""
    return any(isinstance(value, Coin) for value in values.ravel().tolist())


def objects(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor as an object array."""
    values = np.empty(tensor.numel(), dtype=object)
    values[:] = tensor.detach().cpu().ravel().tolist()
    return values.reshape(tuple(tensor.shape))


def extreme(a: np.ndarray, b: np.ndarray, largest: bool) -> np.ndarray:
    """The larger or the smaller of each pair; for a coin and a number, the capped coin."""
    a, b = np.broadcast_arrays(a, b)
    out = np.empty(a.shape, dtype=object)
    for at in np.ndindex(a.shape):
        x, y = (a[at], b[at]) if isinstance(a[at], Coin) else (b[at], a[at])
        capped = getattr(x, "capped", None)
        out[at] = capped(float(y), largest) if capped else (max(x, y) if largest else min(x, y))
    return out


_ALIASES = {
    "sub": "subtract",
    "mul": "multiply",
    "neg": "negative",
    "pow": "power",
    "radd": "add",
    "div": "divide",
    "truediv": "divide",
    "true_divide": "divide",
    "rmul": "multiply",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
    "rtruediv": "rdiv",
}
"""torch's name -> numpy's, where they differ."""

_COMPARE = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}

_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (np.add, np.subtract, np.multiply, np.divide, np.power, np.negative)},
    **{each.__name__: each for each in (np.log, np.log1p, np.exp, np.sqrt)},
    "rsub": lambda a, b: b - a,
    "rdiv": lambda a, b: b / a,
    "maximum": lambda a, b: extreme(a, b, True),
    "minimum": lambda a, b: extreme(a, b, False),
    "reciprocal": lambda a: 1.0 / a,
}
"""Arithmetic on object arrays."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CASTS = _names("to float double half type cpu contiguous clone detach")  # these leave all elements in place

_MOVES = _CASTS | _names(
    """reshape view squeeze unsqueeze getitem transpose permute flatten unflatten expand expand_as view_as
    repeat select narrow index_select gather take_along_dim chunk split unbind cat concat stack flip roll
    masked_select tile broadcast_to movedim t"""
)
"""Functions that only change shape and position."""

_SHAPES_ONLY = _names(
    """get set size dim numel stride is_floating_point empty_like zeros_like ones_like full_like new_zeros
    new_ones new_empty new_full new_tensor requires_grad_ is_contiguous element_size nelement len hash repr
    record_stream is_complex ndimension"""
)
"""Functions that depend on a tensor's shape and type, not on its numbers."""


class Functions:
    """torch functions on tensors of coins; `op_NAME(...)` is torch's NAME."""

    def __init__(self, coins: CoinTensors):
        self.coins = coins

    def __call__(self, func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
        """func(*args, **kwargs), where `name` is func's; NotEnumerable if coins cannot be followed."""
        numpys = _ALIASES.get(name, name)
        if numpys in _COMPARE:
            decided = getattr(np, numpys)(*map(self.coins.array, args[:2]))
            return torch.from_numpy(np.array(decided, dtype=bool))
        if numpys in _ELEMENTWISE and not kwargs.get("rounding_mode"):
            return self.coins.tensor(_ELEMENTWISE[numpys](*map(self.coins.array, args[:2])), args[0])
        if name in _MOVES:
            return self._reshaped(func, args, kwargs)
        if name in _SHAPES_ONLY:
            return func(*args, **kwargs)
        if name in ("data_ptr", "untyped_storage", "storage"):
            raise Opaque(f"torch.{name} hands coins to code outside torch")
        operation = getattr(self, f"op_{name}", None)
        if operation is None:
            raise NotEnumerable(f"torch.{name} of coins")
        return operation(*args, **kwargs)

    def _reshaped(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        # The coins of func(*args, **kwargs), found by applying func to their indices.
        pool: list[Any] = []
        like: list[torch.Tensor] = []

        def indexed(value: Any, depth: int = 0) -> Any:
            if isinstance(value, torch.Tensor) and (self.coins.holds(value) or depth):
                start = len(pool)
                pool.extend(self.coins.array(value).ravel().tolist())
                like.append(value)
                return torch.arange(start, len(pool)).reshape(value.shape)
            if depth == 0 and isinstance(value, list | tuple) and self.coins.holds(value):
                return type(value)(indexed(each, 1) for each in value)
            return value

        def back(index: Any) -> Any:
            if isinstance(index, tuple | list):
                return type(index)(map(back, index))
            values = np.empty(index.numel(), dtype=object)
            values[:] = [pool[i] for i in index.ravel().tolist()]
            return self.coins.tensor(values.reshape(tuple(index.shape)), like[0])

        places = indexed(args[0])
        return back(places if func.__name__ in _CASTS else func(places, *args[1:], **kwargs))

    def op_argmax(self, x: Any, dim: Any = None, keepdim: bool = False, arg: Any = np.argmax) -> torch.Tensor:
        return torch.from_numpy(np.array(arg(self.coins.array(x), axis=dim, keepdims=keepdim)))

    op_argmin = partialmethod(op_argmax, arg=np.argmin)

    def op_max(self, x: Any, dim: Any = None, keepdim: bool = False, arg: Any = np.argmax) -> Any:
        values = self.coins.array(x)
        if dim is None:
            return self.coins.tensor(values.ravel()[arg(values)], x)
        index = arg(values, axis=dim, keepdims=True)
        values = np.take_along_axis(values, index, dim)
        if not keepdim:
            index, values = np.squeeze(index, dim), np.squeeze(values, dim)
        return self.coins.tensor(values, x), torch.from_numpy(np.array(index))

    op_min = partialmethod(op_max, arg=np.argmin)

    def op_topk(self, x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        arg = np.argmax if largest else np.argmin
        rows = np.moveaxis(self.coins.array(x), dim, -1)
        index = np.empty((*rows.shape[:-1], k), dtype=np.int64)
        for at in np.ndindex(rows.shape[:-1]):
            left = list(range(rows.shape[-1]))
            index[at] = [left.pop(int(arg(rows[at][left]))) for _ in range(k)]
        index = np.moveaxis(index, -1, dim)
        values = np.take_along_axis(self.coins.array(x), index, dim)
        return TopK((self.coins.tensor(values, x), torch.from_numpy(index)))

    def op_cumprod(self, x: Any, dim: Any = None, over: Any = np.cumprod) -> Any:
        return self.coins.tensor(np.array(over(self.coins.array(x), axis=dim), dtype=object), x)

    op_cumsum, op_prod = partialmethod(op_cumprod, over=np.cumsum), partialmethod(op_cumprod, over=np.prod)

    def op_clamp(self, x: Any, min: Any = None, max: Any = None) -> Any:
        values = self.coins.array(x)
        for bound, largest in ((min, True), (max, False)):
            values = values if bound is None else extreme(values, self.coins.array(bound), largest)
        return self.coins.tensor(values, x)

    op_clip = op_clamp_min = op_clamp

    def op_where(self, condition: Any, a: Any, b: Any) -> Any:
        values = np.where(condition.numpy(), self.coins.array(a), self.coins.array(b))
        return self.coins.tensor(values, a if self.coins.holds(a) else b)

    def op_searchsorted(self, edges: Any, values: Any, right: bool = False, **_: Any) -> torch.Tensor:
        # For coins the side does not matter: a coin equals an edge with probability zero.
        u, bounds = self.coins.array(values), objects(edges)
        if edges.ndim > 1:
            bounds = np.broadcast_to(bounds, (*u.shape[:-1], edges.shape[-1]))
        out = np.zeros(u.shape, dtype=np.int64)
        for at in np.ndindex(u.shape):
            row = bounds[at[:-1]] if edges.ndim > 1 else bounds
            out[at] = next((i for i, edge in enumerate(row) if u[at] < edge), len(row))
        return torch.from_numpy(out)

    def op_bucketize(self, values: Any, edges: Any, **_: Any) -> torch.Tensor:
        return self.op_searchsorted(edges, values)

    def op_item(self, x: Any) -> Any:
        return self.coins.array(x).item()

    def op_tolist(self, x: Any) -> Any:
        return self.coins.array(x).tolist()

    def op_array(self, x: Any, dtype: Any = None) -> np.ndarray:
        return self.coins.array(x)

    op_numpy = op_array

    def op_isnan(self, x: Any) -> torch.Tensor:
        return torch.zeros(x.shape, dtype=torch.bool)

    op_isinf = op_isnan

    def op_setitem(self, x: Any, key: Any, value: Any) -> None:
        values = self.coins.array(x).copy()
        places = torch.arange(x.numel()).reshape(x.shape)[key]
        new = np.broadcast_to(self.coins.array(value), tuple(places.shape))
        values.ravel()[places.numpy().ravel()] = new.ravel()
        self.coins.assign(x, values)

    def op_copy(self, x: Any, value: Any, non_blocking: bool = False) -> Any:
        return self.coins.tensor(np.broadcast_to(self.coins.array(value), tuple(x.shape)).copy(), x)
