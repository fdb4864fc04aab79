"""The interpreter's arithmetic on arrays that have coins among their numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from draftproof.simulators.audit.randomness.lazy import Coin
from draftproof.simulators.audit.randomness.torch_mode.arithmetic import extreme
from draftproof.simulators.audit.randomness.torch_mode.shadows import has_coins
from draftproof.simulators.audit.randomness.triton_mode.memory import Memory
from draftproof.simulators.audit.randomness.world import NotEnumerable

_EXTREMES = {np.maximum: True, np.fmax: True, np.minimum: False, np.fmin: False}


def overrides(interpreter: Any, memory: Memory) -> list[tuple[Any, str, Any]]:
    """(where, attribute, replacement) of what the interpreter module does otherwise with coins."""
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    numpy_type = interpreter._get_np_dtype
    was = {name: getattr(builder, name) for name in dir(builder) if not name.startswith("__")}

    def held(values: np.ndarray, kind: Any) -> Any:
        if values.dtype == object and not has_coins(values):
            values = values.astype(numpy_type(kind))
        return handle(values, kind)

    def fits(values: np.ndarray, kind: Any) -> bool:
        return values.dtype == object or validated(values, kind)

    def masked_load(self: Any, ptrs: Any, mask: Any, *rest: Any) -> Any:
        plain = was["create_masked_load"](self, ptrs, mask, *rest)
        return handle(memory.load(ptrs.data.astype(np.int64), mask.data, plain.data), plain.dtype)

    def masked_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
        if not memory.coins and value.data.dtype != object:
            return was["create_masked_store"](self, ptrs, value, mask, *rest)
        places, values, on = np.broadcast_arrays(ptrs.data.astype(np.int64), value.data, mask.data)
        memory.store(places[on].tolist(), values[on].tolist())
        if value.data.dtype == object:
            value = handle(_numbers(value.data).astype(numpy_type(value.dtype)), value.dtype)
        return was["create_masked_store"](self, ptrs, value, mask, *rest)

    def cast(self: Any, source: Any, kind: Any) -> Any:
        if source.data.dtype != object:
            return was["cast_impl"](self, source, kind)
        if not kind.scalar.is_floating():
            raise NotEnumerable(f"a coin is cast to {kind.scalar} in a kernel")
        return handle(source.data, kind.scalar)

    def splat(self: Any, kind: Any, source: Any) -> Any:
        if source.data.dtype != object:
            return was["create_splat"](self, kind, source)
        return handle(np.full(kind.shape, source.data.ravel()[0], dtype=object), source.dtype.scalar)

    def unsplat(self: Any, source: Any) -> Any:
        return handle(source.data.ravel()[:1], source.dtype.scalar)

    def binary(self: Any, a: Any, b: Any, op: Callable[..., Any]) -> Any:
        if object not in (a.data.dtype, b.data.dtype):
            return was["binary_op"](self, a, b, op)
        if op in _EXTREMES:
            return held(extreme(a.data, b.data, _EXTREMES[op]), a.dtype.scalar)
        with np.errstate(all="ignore"):
            return held(np.asarray(op(a.data, b.data)), a.dtype.scalar)

    def unary(self: Any, a: Any, op: Callable[..., Any]) -> Any:
        if a.data.dtype != object:
            return was["unary_op"](self, a, op)
        values = np.empty(a.data.shape, dtype=object)
        with np.errstate(all="ignore"):
            for at in np.ndindex(values.shape):
                x = a.data[at]
                values[at] = op(x) if not isinstance(x, Coin) else op(np.array(x, dtype=object))
        return held(values, a.dtype.scalar)

    def to_tensor(self: Any, ret: Any, dtype: Any) -> Any:
        if isinstance(ret, Coin):
            scalar = np.empty(1, dtype=object)
            scalar[0] = ret
            return interpreter.tl.core.tensor(handle(scalar, dtype.scalar), dtype)
        if getattr(getattr(ret, "dtype", None), "kind", "") == "O":
            block = interpreter.tl.block_type(dtype, list(ret.shape))
            return interpreter.tl.core.tensor(handle(ret, dtype.scalar), block)
        return reduced(self, ret, dtype)

    reductions = interpreter.ReduceScanOpInterface
    validated, reduced = interpreter._validate_np_data_size, reductions.to_tensor
    return [
        (interpreter, "_validate_np_data_size", fits),
        (builder, "create_masked_load", masked_load),
        (builder, "create_masked_store", masked_store),
        (builder, "cast_impl", cast),
        (builder, "create_splat", splat),
        (builder, "create_unsplat", unsplat),
        (builder, "binary_op", binary),
        (builder, "unary_op", unary),
        (reductions, "to_tensor", to_tensor),
    ]


def _numbers(values: np.ndarray) -> np.ndarray:
    # NaN where a coin is: whoever reads the memory itself sees that something is missing.
    return np.array([np.nan if isinstance(x, Coin) else x for x in values.ravel()]).reshape(values.shape)
