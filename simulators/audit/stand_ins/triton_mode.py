"""Follows coins through Triton kernels that run with TRITON_INTERPRET=1.

Triton's interpreter computes in numpy. While a foreign function runs, a load from a tensor of coins gives the
coins themselves in an object array, and the interpreter's arithmetic works on such arrays; comparisons and
arg-extrema are then decided. So a kernel is enumerated in as many runs as its choices have outcomes.

Written for the interpreter of Triton 3.6 to 3.9. An older one is left unchanged, and coins that reach it are
read by bisection. A coin keeps its original float type when a kernel casts it, which changes its threshold by
at most one rounding of the narrower type.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from draftproof.simulators.audit.coins.coin import Coin
from draftproof.simulators.audit.coins.state import NotEnumerable
from draftproof.simulators.audit.stand_ins.replaced import swapped
from draftproof.simulators.audit.stand_ins.torch_functions import CoinTensors, extreme, has_coins

_EXTREMES = {np.maximum: True, np.fmax: True, np.minimum: False, np.fmin: False}


@contextmanager
def following(coins: CoinTensors) -> Iterator[None]:
    """While entered, kernels follow the coins; does nothing if Triton's interpreter is off."""
    interpreter = sys.modules.get("triton.runtime.interpreter")
    if interpreter is None or not hasattr(interpreter, "_LangPatchScope"):
        yield
        return
    memory, launch = _Memory(coins), interpreter.GridExecutor.__call__
    patch, scopes = interpreter._patch_lang, list[Any]()

    def language(_: Any) -> Any:  # Triton's patch of `triton.language`, once a run and not at every launch
        every = SimpleNamespace(__globals__={"tl": interpreter.tl, "core": interpreter.tl.core})
        scopes.extend([] if scopes else [patch(every)])
        return SimpleNamespace(restore=lambda: None)

    def launched(executor: Any, *args: Any, **kwargs: Any) -> None:
        with torch._C.DisableTorchFunction():
            tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
            memory.put(tensors)
            launch(executor, *args, **kwargs)
            memory.take(tensors)

    changes = [
        (interpreter.GridExecutor, "__call__", launched),
        (interpreter, "_patch_lang", language),
        (interpreter.interpreter_builder, "options", interpreter.InterpreterOptions(sanitize_overflow=False)),
        *_arithmetic(interpreter, memory),
    ]
    try:
        with swapped(changes):
            yield
    finally:
        for scope in scopes:
            scope.restore()


class _Memory:
    """The coins by memory address while a kernel runs: stored before a launch and read back after it."""

    def __init__(self, tensors: CoinTensors) -> None:
        self.coins: dict[int, Any] = {}
        self._tensors = tensors

    def put(self, tensors: list[torch.Tensor]) -> None:
        """Stores the coins of the tensors, at the addresses of their elements."""
        for tensor in filter(self._tensors.holds, tensors):
            self.store(addresses(tensor).ravel().tolist(), self._tensors.array(tensor).ravel().tolist())

    def take(self, tensors: list[torch.Tensor]) -> None:
        """Assigns to the tensors the coins now at their addresses, then forgets all coins."""
        for tensor in tensors if self.coins else ():
            places = addresses(tensor).ravel().tolist()
            if any(place in self.coins for place in places):
                plain = tensor.detach().ravel().tolist()
                values = [self.coins.get(place, x) for place, x in zip(places, plain, strict=True)]
                self._tensors.assign(tensor, np.array(values, dtype=object).reshape(tuple(tensor.shape)))
            else:
                self._tensors.forget(tensor)
        self.coins.clear()

    def load(self, places: np.ndarray, mask: np.ndarray, plain: np.ndarray) -> np.ndarray:
        """The values at these addresses: `plain`, or an object array if some are coins."""
        values = plain
        if self.coins:
            near = mask & (places >= min(self.coins)) & (places <= max(self.coins))
            for at in map(tuple, np.argwhere(near)):
                if (coin := self.coins.get(int(places[at]))) is not None:
                    values = plain.astype(object) if values is plain else values
                    values[at] = coin
        return values

    def store(self, places: list[int], values: list[Any]) -> None:
        """Stores coins; a plain number removes the coin at its address."""
        for place, value in zip(places, values, strict=True):
            if isinstance(value, Coin):
                self.coins[place] = value
            else:
                self.coins.pop(place, None)


def addresses(tensor: torch.Tensor) -> np.ndarray:
    """The address of every element."""
    size = tensor.element_size()
    steps = [np.arange(n) * k * size for n, k in zip(tensor.shape, tensor.stride(), strict=True)]
    return tensor.data_ptr() + sum(np.ix_(*steps), np.zeros((), dtype=np.int64))


def _arithmetic(interpreter: Any, memory: _Memory) -> list[tuple[Any, str, Any]]:
    # (object, attribute, replacement) for each function of the interpreter that must handle coins.
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    numpy_type = interpreter._get_np_dtype
    was = {name: getattr(builder, name) for name in dir(builder) if not name.startswith("__")}

    def handle_of(values: np.ndarray, kind: Any) -> Any:
        if values.dtype == object and not has_coins(values):
            values = values.astype(numpy_type(kind))
        return handle(values, kind)

    def fits(values: np.ndarray, kind: Any) -> bool:
        return values.dtype == object or validated(values, kind)

    def create_masked_load(self: Any, ptrs: Any, mask: Any, *rest: Any) -> Any:
        plain = was["create_masked_load"](self, ptrs, mask, *rest)
        return handle(memory.load(ptrs.data.astype(np.int64), mask.data, plain.data), plain.dtype)

    def create_masked_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
        if not memory.coins and value.data.dtype != object:
            return was["create_masked_store"](self, ptrs, value, mask, *rest)
        places, values, on = np.broadcast_arrays(ptrs.data.astype(np.int64), value.data, mask.data)
        memory.store(places[on].tolist(), values[on].tolist())
        if value.data.dtype == object:  # who reads the memory directly finds NaN, and no plausible number
            plain = np.array([np.nan if isinstance(x, Coin) else x for x in value.data.ravel()])
            value = handle(plain.reshape(value.data.shape).astype(numpy_type(value.dtype)), value.dtype)
        return was["create_masked_store"](self, ptrs, value, mask, *rest)

    def cast_impl(self: Any, source: Any, kind: Any) -> Any:
        if source.data.dtype != object:
            return was["cast_impl"](self, source, kind)
        if not kind.scalar.is_floating():
            raise NotEnumerable(f"a coin is cast to {kind.scalar} in a kernel")
        return handle(source.data, kind.scalar)

    def create_splat(self: Any, kind: Any, source: Any) -> Any:
        if source.data.dtype != object:
            return was["create_splat"](self, kind, source)
        return handle(np.full(kind.shape, source.data.ravel()[0], dtype=object), source.dtype.scalar)

    def create_unsplat(self: Any, source: Any) -> Any:
        return handle(source.data.ravel()[:1], source.dtype.scalar)

    def binary_op(self: Any, a: Any, b: Any, op: Callable[..., Any]) -> Any:
        if object not in (a.data.dtype, b.data.dtype):
            return was["binary_op"](self, a, b, op)
        if op in _EXTREMES:
            return handle_of(extreme(a.data, b.data, _EXTREMES[op]), a.dtype.scalar)
        with np.errstate(all="ignore"):
            return handle_of(np.asarray(op(a.data, b.data)), a.dtype.scalar)

    def unary_op(self: Any, a: Any, op: Callable[..., Any]) -> Any:
        if a.data.dtype != object:
            return was["unary_op"](self, a, op)
        each = np.frompyfunc(lambda x: op(np.array(x, dtype=object) if isinstance(x, Coin) else x), 1, 1)
        with np.errstate(all="ignore"):
            return handle_of(np.array(each(a.data), dtype=object), a.dtype.scalar)

    def to_tensor(self: Any, ret: Any, dtype: Any) -> Any:
        if isinstance(ret, Coin):
            scalar = np.array([ret], dtype=object)
            return interpreter.tl.core.tensor(handle(scalar, dtype.scalar), dtype)
        if getattr(getattr(ret, "dtype", None), "kind", "") == "O":
            block = interpreter.tl.block_type(dtype, list(ret.shape))
            return interpreter.tl.core.tensor(handle(ret, dtype.scalar), block)
        return reduced(self, ret, dtype)

    reductions = interpreter.ReduceScanOpInterface
    validated, reduced = interpreter._validate_np_data_size, reductions.to_tensor
    followed = [create_masked_load, create_masked_store, create_splat, create_unsplat]
    followed += [cast_impl, binary_op, unary_op]
    return [
        *((builder, each.__name__, each) for each in followed),
        (interpreter, "_validate_np_data_size", fits),
        (reductions, "to_tensor", to_tensor),
    ]
