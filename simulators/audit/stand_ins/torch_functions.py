"""torch functions on tensors of coins: storage, arithmetic, comparisons, shapes.

A tensor of coins is a handle (a tensor of NaN with the right shape and type) with an associated array of lazy
numbers. Arithmetic works on these arrays, comparisons and arg-extrema are decided, and functions that only
move elements are applied to the elements' indices.
"""

from collections.abc import Callable
from functools import partialmethod
from math import floor
from typing import Any

import numpy as np
import torch

from draftproof.simulators.audit.coins.coin import Coin
from draftproof.simulators.audit.coins.state import NotEnumerable, Opaque

TopK, Sorted = torch.return_types.topk, torch.return_types.sort
COARSE = {"bfloat16": (), "float16": (torch.bfloat16,)}
"""Arithmetic -> the types whose rounding the bound of an audit in it leaves out; of others, both."""


class CoinTensors:
    """Maps tensors to the coins that they hold."""

    def __init__(self, dtype: str = "float32") -> None:
        self._coarse = COARSE.get(dtype, (torch.float16, torch.bfloat16))
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
        return np.array(value, dtype=object)

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

    def fine(self, dtype: torch.dtype) -> None:
        """Refuses coins of a type that is coarser than the arithmetic of the audit."""
        if dtype in self._coarse:
            raise NotEnumerable(
                f"its random numbers are {dtype}; if it computes in that type, name it: dtype"
            )

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
    return values.dtype == object and any(isinstance(value, Coin) for value in values.ravel().tolist())


def objects(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor as an object array."""
    return np.array(tensor.detach().cpu().tolist(), dtype=object).reshape(tuple(tensor.shape))


def extreme(a: np.ndarray, b: np.ndarray, largest: bool) -> np.ndarray:
    """The larger or the smaller of each pair; for a coin and a number, the capped coin."""

    def one(a: Any, b: Any) -> Any:
        x, y = (a, b) if isinstance(a, Coin) else (b, a)
        capped = getattr(x, "capped", None)
        return capped(float(y), largest) if capped else (max(x, y) if largest else min(x, y))

    return np.array(np.frompyfunc(one, 2, 1)(a, b), dtype=object)


_OF_NUMPY = """subtract:sub multiply:mul,rmul negative:neg add:radd divide:div,truediv,true_divide
    less:lt less_equal:le greater:gt greater_equal:ge equal:eq not_equal:ne rdiv:rtruediv"""
_ALIASES = {
    old: new for new, _, many in (x.partition(":") for x in _OF_NUMPY.split()) for old in many.split(",")
}
"""torch's name -> numpy's, where they differ."""

_COMPARE = {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"}

_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    **{each.__name__: each for each in (np.add, np.subtract, np.multiply, np.divide, np.negative)},
    **{each.__name__: each for each in (np.log, np.log1p, np.exp)},
    "rsub": lambda a, b: b - a,
    "rdiv": lambda a, b: b / a,
    "maximum": lambda a, b: extreme(a, b, True),
    "minimum": lambda a, b: extreme(a, b, False),
    "reciprocal": lambda a: 1.0 / a,
}
"""Arithmetic on object arrays."""


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_CASTS = words("to float double half bfloat16 int long short bool type type_as cpu contiguous clone detach")

_MOVES = _CASTS | words(
    """reshape view squeeze unsqueeze getitem transpose permute flatten unflatten expand expand_as view_as
    repeat select narrow index_select gather take_along_dim chunk split unbind cat concat stack flip roll
    masked_select tile broadcast_to movedim t"""
)
"""Functions that only change shape and position."""

_SHAPES_ONLY = words(
    """get set size dim numel stride is_floating_point empty_like zeros_like ones_like new_zeros
    new_ones new_empty new_full new_tensor requires_grad_ is_contiguous element_size nelement len hash repr
    record_stream is_complex ndimension"""
)
"""Functions that depend on a tensor's shape and type, not on its numbers."""


_NUMBERS = ("__float__", "__int__", "__index__", "__bool__", "__complex__")


class Functions:
    """torch functions on tensors of coins; `op_NAME(...)` is torch's NAME, as are _OPERATIONS."""

    def __init__(self, coins: CoinTensors):
        self.coins = coins

    def __call__(self, func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
        """func(*args, **kwargs), where `name` is func's; NotEnumerable if coins cannot be followed."""
        if func.__name__ in _NUMBERS:
            item = self.coins.array(args[0]).item()
            return bool(item) if name == "bool" else int(item) if name == "int" else item.__float__()
        numpys = _ALIASES.get(name, name)
        if numpys in _COMPARE:
            decided = getattr(np, numpys)(*map(self.coins.array, args[:2]))
            return torch.from_numpy(np.array(decided, dtype=bool))
        if numpys in _ELEMENTWISE and not kwargs.get("rounding_mode"):
            like = next(filter(self.coins.holds, args[:2]), args[0])
            return self.coins.tensor(_ELEMENTWISE[numpys](*map(self.coins.array, args[:2])), like)
        if func.__name__ in _CASTS:
            return self._cast(args[0], func(*args, **kwargs))
        if name in _MOVES:
            return self._moved(lambda x: func(x, *args[1:], **kwargs), args[0])
        if name in _SHAPES_ONLY:
            return func(*args, **kwargs)
        if name in ("data_ptr", "untyped_storage", "storage"):
            raise Opaque(f"torch.{name} hands coins to code outside torch")
        operation = _OPERATIONS.get(name) or getattr(Functions, f"op_{name}", None)
        if operation is None:
            raise Opaque(f"torch.{name} of coins")
        return operation(self, *args, **kwargs)

    def _moved(self, move: Callable[..., Any], *data: Any) -> Any:
        # The coins and numbers of move(*data), found by applying it to their indices.
        pool: list[Any] = []
        like: list[torch.Tensor] = []

        def indexed(value: Any) -> Any:
            if isinstance(value, list | tuple):
                return type(value)(map(indexed, value))
            start, values = len(pool), self.coins.array(value)
            pool.extend(values.ravel().tolist())
            if not isinstance(value, torch.Tensor):
                return start
            like.append(value)
            return torch.arange(start, len(pool), dtype=torch.float64).reshape(values.shape)

        def back(index: Any) -> Any:
            if isinstance(index, tuple | list):
                return type(index)(map(back, index))
            values = np.array([pool[int(i)] for i in index.ravel().tolist()], dtype=object)
            of = next(filter(self.coins.holds, like), like[0] if like else None)
            return self.coins.tensor(values.reshape(tuple(index.shape)), of)

        return back(move(*map(indexed, data)))

    def _cast(self, x: Any, handle: torch.Tensor) -> torch.Tensor:
        # The coins in the type of the handle, which was converted like x.
        dtype, values = handle.dtype, self.coins.array(x)
        if dtype == torch.bool:
            return torch.ones(handle.shape, dtype=dtype)
        if not dtype.is_floating_point:
            return torch.from_numpy(np.vectorize(int, otypes=[np.int64])(values)).to(dtype)
        if dtype != x.dtype:
            self.coins.fine(dtype)
        return self.coins.tensor(values, handle)

    def op_argmax(self, x: Any, dim: Any = None, keepdim: bool = False, arg: Any = np.argmax) -> torch.Tensor:
        return torch.from_numpy(np.array(arg(self.coins.array(x), axis=dim, keepdims=keepdim)))

    op_argmin = partialmethod(op_argmax, arg=np.argmin)

    def op_max(self, x: Any, dim: Any = None, keepdim: bool = False, arg: Any = np.argmax) -> Any:
        values = self.coins.array(x)
        if dim is None:
            return self.coins.tensor(values.ravel()[arg(values)], x)
        if isinstance(dim, torch.Tensor):
            return self.coins.tensor(extreme(values, self.coins.array(dim), arg is np.argmax), x)
        index = arg(values, axis=dim, keepdims=True)
        values = np.take_along_axis(values, index, dim)
        if not keepdim:
            index, values = np.squeeze(index, dim), np.squeeze(values, dim)
        pair = self.coins.tensor(values, x), torch.from_numpy(np.array(index))
        return torch.return_types.max(pair)

    op_min = partialmethod(op_max, arg=np.argmin)

    def op_amax(self, x: Any, dim: Any = None, keepdim: bool = False, arg: Any = np.argmax) -> Any:
        found = self.op_max(x, dim, keepdim, arg)
        return found if dim is None else found[0]

    op_amin = partialmethod(op_amax, arg=np.argmin)

    def op_sort(self, x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
        return Sorted(self.op_topk(x, x.shape[dim], dim, descending))

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

    def op_sum(self, x: Any, dim: Any = None, keepdim: bool = False, over: Any = np.sum, **_: Any) -> Any:
        kept = {"keepdims": True} if keepdim else {}
        return self.coins.tensor(over(self.coins.array(x), axis=dim, **kept), x)

    op_prod, op_cumsum = partialmethod(op_sum, over=np.prod), partialmethod(op_sum, over=np.cumsum)
    op_cumprod = partialmethod(op_sum, over=np.cumprod)

    def op_tensor(self, data: Any, dtype: Any = None, **_: Any) -> Any:
        found = self.coins.array(data) if isinstance(data, torch.Tensor) else np.array(data, dtype=object)
        return self.coins.tensor(found, torch.empty(0, dtype=dtype or torch.float32))

    op_as_tensor = op_tensor

    def op_clamp(self, x: Any, min: Any = None, max: Any = None) -> Any:
        values = self.coins.array(x)
        for bound, largest in ((min, True), (max, False)):
            values = values if bound is None else extreme(values, self.coins.array(bound), largest)
        return self.coins.tensor(values, x)

    op_clip = op_clamp_min = op_clamp

    def op_where(self, condition: Any, a: Any, b: Any) -> Any:
        if condition.dtype != torch.bool:  # the method of a tensor
            condition, a = a, condition
        return self._moved(lambda a, b: torch.where(condition, a, b), a, b)

    def op_searchsorted(self, edges: Any, values: Any, right: bool = False, **_: Any) -> torch.Tensor:
        # For coins the side does not matter: a coin equals an edge with probability zero.
        u, size = self.coins.array(values), edges.shape[-1]
        rows = np.broadcast_to(objects(edges), (*u.shape[:-1], size)).reshape(-1, size)
        found = [*map(np.searchsorted, rows, u.reshape(len(rows), -1))]
        return torch.from_numpy(np.array(found, dtype=np.int64).reshape(u.shape))

    def op_setitem(self, x: Any, key: Any, value: Any) -> None:
        def stored(x: Any, value: Any) -> Any:
            x[key] = value
            return x

        self.coins.assign(x, self._moved(stored, x, value))


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "argsort": lambda of, x, dim=-1, descending=False, stable=False: of.op_sort(x, dim, descending)[1],
    "floor": lambda of, x: of.coins.tensor(np.vectorize(floor, otypes=[object])(of.coins.array(x)), x),
    "masked_fill": lambda of, x, mask, value: of.op_where(mask, value, x),
    "scatter": lambda of, x, dim, index, src, **_: of._moved(lambda x, y: x.scatter(dim, index, y), x, src),
    "copy": lambda of, x, value, non_blocking=False: of._moved(lambda x, y: x.copy_(y), x, value),
    "item": lambda of, x: of.coins.array(x).item(),
    "tolist": lambda of, x: of.coins.array(x).tolist(),
    "array": lambda of, x, dtype=None: of.coins.array(x),
    "numpy": lambda of, x: of.coins.array(x),
    "isnan": lambda of, x: torch.zeros(x.shape, dtype=torch.bool),
    "isinf": lambda of, x: torch.zeros(x.shape, dtype=torch.bool),
    "isfinite": lambda of, x: torch.ones(x.shape, dtype=torch.bool),
    "nan_to_num": lambda of, x, *_, **__: x,
}
"""torch's NAME on the `Functions` and its arguments."""
