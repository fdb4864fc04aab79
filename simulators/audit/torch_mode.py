"""torch's random functions answered by a source, and what is computed from their coins followed.

A tensor of coins is a handle (a tensor of NaN with the right shape and type) and, beside it, an
array of lazy numbers that shadows it. Every torch function that meets a handle goes through here:
arithmetic is done on the shadows, comparisons and arg-extrema are decided, reshaping is done on
indices. A function that is not known is refused by name.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from simulators.audit.generator import exponential
from simulators.audit.lazy import Coin
from simulators.audit.sources import Seeded, Source
from simulators.audit.world import NotEnumerable, Opaque

_KIND = {torch.float64: np.float64, torch.float16: np.float16}

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "radd": lambda a, b: b + a,
    "sub": lambda a, b: a - b,
    "subtract": lambda a, b: a - b,
    "rsub": lambda a, b: b - a,
    "mul": lambda a, b: a * b,
    "multiply": lambda a, b: a * b,
    "rmul": lambda a, b: b * a,
    "div": lambda a, b: a / b,
    "divide": lambda a, b: a / b,
    "true_divide": lambda a, b: a / b,
    "truediv": lambda a, b: a / b,
    "rdiv": lambda a, b: b / a,
    "rtruediv": lambda a, b: b / a,
    "pow": lambda a, b: a**b,
    "maximum": lambda a, b: _outer(a, b, True),
    "minimum": lambda a, b: _outer(a, b, False),
}
_COMPARE = {
    **dict.fromkeys(("lt", "less"), np.less),
    **dict.fromkeys(("le", "less_equal"), np.less_equal),
    **dict.fromkeys(("gt", "greater"), np.greater),
    **dict.fromkeys(("ge", "greater_equal"), np.greater_equal),
    **dict.fromkeys(("eq",), np.equal),
    **dict.fromkeys(("ne", "not_equal"), np.not_equal),
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": lambda a: -a,
    "negative": lambda a: -a,
    "log": np.log,
    "log1p": np.log1p,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "reciprocal": lambda a: 1.0 / a,
}
_RESHAPE = frozenset(
    {
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
        "clone",
        "contiguous",
        "detach",
        "to",
        "cpu",
        "float",
        "double",
        "half",
        "type",
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
    }
)
_HANDLE = frozenset(
    {
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
    }
)


class Answering(TorchFunctionMode):
    """While entered, torch draws from the source."""

    def __init__(self, source: Source):
        super().__init__()
        self.source = source
        self.shadows: dict[int, tuple[torch.Tensor, np.ndarray]] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        raw = getattr(func, "__name__", "")
        name = raw.strip("_")
        inplace = raw.endswith("_") and not raw.startswith("_")
        draw = getattr(self, f"_draw_{name}", None)
        if draw is not None:
            return draw(func, args, kwargs)
        if name in (
            "randn",
            "randn_like",
            "normal",
            "poisson",
            "log_normal",
            "cauchy",
            "geometric",
            "dropout",
        ):
            raise NotEnumerable(f"torch.{raw} has no exact account here")
        if not self._met(args) and not self._met(tuple(kwargs.values())):
            if inplace and args and id(args[0]) in self.shadows:
                del self.shadows[id(args[0])]
            return func(*args, **kwargs)
        with np.errstate(all="ignore"):
            result = self._followed(func, name, args, kwargs)
        if inplace:
            return self._into(args[0], result)
        return result

    def tensor(self, values: np.ndarray, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """An array of coins as a tensor."""
        return self._made(values.view(np.ndarray), torch.empty(0, dtype=dtype))

    # drawing

    def _draw_rand(self, func: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
        keep = {key: value for key, value in kwargs.items() if key != "generator"}
        return self._uniforms(torch.empty(*args, **keep), kwargs.get("generator"))

    def _draw_rand_like(self, func: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
        keep = {key: value for key, value in kwargs.items() if key != "generator"}
        return self._uniforms(torch.empty_like(*args, **keep), kwargs.get("generator"))

    def _draw_uniform(self, func: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
        low, high = (*args[1:], *(0.0, 1.0)[len(args) - 1 :])
        low, high = kwargs.get("from", low), kwargs.get("to", high)
        stretch = None if (low, high) == (0, 1) else (lambda u: low + (high - low) * u)
        return self._uniforms(args[0], kwargs.get("generator"), stretch)

    def _draw_exponential(self, func: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
        rate = float(kwargs.get("lambd", args[1] if len(args) > 1 else 1.0))
        draw = self._draws(
            args[0], kwargs.get("generator"), lambda source, kind: exponential(source, kind) / rate
        )
        return self._into(args[0], draw)

    def _draw_bernoulli(self, func: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
        p = kwargs.get("p", args[1] if len(args) > 1 else args[0])
        if isinstance(p, torch.Tensor) and not bool(((p >= 0) & (p <= 1)).all()):
            return func(*args, **kwargs)  # torch's own complaint
        coins = self._draws(args[0], kwargs.get("generator"), lambda source, kind: source.uniform(kind))
        heads = np.less(coins, _objects(p) if isinstance(p, torch.Tensor) else float(p)).astype(bool)
        answer = torch.from_numpy(np.array(heads)).to(args[0].dtype)
        return args[0].copy_(answer) if func.__name__.endswith("_") else answer

    def _draw_multinomial(self, func: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
        names = ("input", "num_samples", "replacement")
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        rows, count = given["input"], int(given["num_samples"])
        if id(rows) in self.shadows:
            raise NotEnumerable("torch.multinomial of weights that depend on coins")
        plain = rows.detach().double()
        if not bool(torch.isfinite(plain).all() and (plain >= 0).all() and (plain.sum(-1) > 0).all()):
            return torch.multinomial(rows, count, given.get("replacement", False))  # torch's own complaint
        source = self._stream(given.get("generator"))
        drawn = []
        for row in plain.reshape(-1, plain.shape[-1]).numpy():
            left = row.copy()
            for _ in range(count):
                drawn.append(source.choose(left))
                if not given.get("replacement", False):
                    left[drawn[-1]] = 0.0
        return torch.tensor(drawn, dtype=torch.int64).reshape(*plain.shape[:-1], count)

    def _draw_randint(self, func: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
        bounds = [int(x) for x in args if not isinstance(x, tuple | list | torch.Size)]
        low, high = (0, bounds[0]) if len(bounds) == 1 else bounds[:2]
        shape = next((x for x in args if isinstance(x, tuple | list | torch.Size)), kwargs.get("size", ()))
        source = self._stream(kwargs.get("generator"))
        drawn = [low + source.choose([1.0] * (high - low)) for _ in range(int(np.prod(shape)))]
        return torch.tensor(drawn, dtype=kwargs.get("dtype", torch.int64)).reshape(tuple(shape))

    def _draw_randperm(self, func: Any, args: Any, kwargs: dict[str, Any]) -> torch.Tensor:
        weights, order = [1.0] * int(args[0]), []
        source = self._stream(kwargs.get("generator"))
        for _ in range(int(args[0])):
            order.append(source.choose(weights))
            weights[order[-1]] = 0.0
        return torch.tensor(order, dtype=torch.int64)

    def _uniforms(self, tensor: torch.Tensor, generator: Any, stretch: Any = None) -> torch.Tensor:
        def one(source: Source, kind: type) -> Any:
            u = source.uniform(kind)
            return u if stretch is None else stretch(u)

        return self._into(tensor, self._draws(tensor, generator, one))

    def _draws(self, like: torch.Tensor, generator: Any, one: Callable[[Source, type], Any]) -> np.ndarray:
        source, kind = self._stream(generator), _KIND.get(like.dtype, np.float32)
        values = np.empty(like.numel(), dtype=object)
        values[:] = [one(source, kind) for _ in range(like.numel())]
        return values.reshape(tuple(like.shape))

    def _stream(self, generator: Any) -> Source:
        # The real generator's state names the stream, and moves on: seeding again repeats it.
        generator = torch.default_generator if generator is None else generator
        state = generator.get_state().numpy().tobytes()
        torch.rand(1, generator=generator)
        return _Stream(self.source, hash(state))

    # following

    def _met(self, value: Any) -> bool:
        if isinstance(value, torch.Tensor):
            return id(value) in self.shadows
        if isinstance(value, tuple | list):
            return any(map(self._met, value))
        return isinstance(value, Coin)

    def _followed(self, func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
        if name in _COMPARE:
            decided = _COMPARE[name](self._array(args[0]), self._array(args[1]))
            return torch.from_numpy(np.array(decided, dtype=bool))
        if name in _BINARY and not kwargs.get("rounding_mode"):
            return self._made(_BINARY[name](self._array(args[0]), self._array(args[1])), args[0])
        if name in _UNARY:
            return self._made(_UNARY[name](self._array(args[0])), args[0])
        if name in _RESHAPE:
            return self._reshaped(func, args, kwargs)
        if name in _HANDLE:
            return func(*args, **kwargs)
        own = getattr(self, f"_op_{name}", None)
        if name in ("data_ptr", "untyped_storage", "storage"):
            raise Opaque(f"torch.{name} hands coins to code outside torch")
        if own is None:
            raise NotEnumerable(f"torch.{name} of coins")
        return own(*args, **kwargs)

    def _op_argmax(self, x: Any, dim: Any = None, keepdim: bool = False) -> torch.Tensor:
        return torch.from_numpy(np.array(np.argmax(self._array(x), axis=dim, keepdims=keepdim)))

    def _op_argmin(self, x: Any, dim: Any = None, keepdim: bool = False) -> torch.Tensor:
        return torch.from_numpy(np.array(np.argmin(self._array(x), axis=dim, keepdims=keepdim)))

    def _op_max(self, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return self._extreme(x, dim, keepdim, np.argmax)

    def _op_min(self, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return self._extreme(x, dim, keepdim, np.argmin)

    def _extreme(self, x: Any, dim: Any, keepdim: bool, arg: Any) -> Any:
        if dim is None:
            flat = self._array(x).ravel()
            return self._made(np.array(flat[arg(flat)], dtype=object), x)
        index = arg(self._array(x), axis=dim, keepdims=True)
        values = np.take_along_axis(self._array(x), index, dim)
        if not keepdim:
            index, values = np.squeeze(index, dim), np.squeeze(values, dim)
        return self._made(values, x), torch.from_numpy(np.array(index))

    def _op_cumprod(self, x: Any, dim: int) -> Any:
        return self._made(np.cumprod(self._array(x), axis=dim), x)

    def _op_cumsum(self, x: Any, dim: int) -> Any:
        return self._made(np.cumsum(self._array(x), axis=dim), x)

    def _op_prod(self, x: Any, dim: Any = None) -> Any:
        return self._made(np.array(np.prod(self._array(x), axis=dim), dtype=object), x)

    def _op_clamp(self, x: Any, min: Any = None, max: Any = None) -> Any:
        values = self._array(x)
        if min is not None:
            values = _outer(values, self._array(min), True)
        if max is not None:
            values = _outer(values, self._array(max), False)
        return self._made(values, x)

    _op_clip = _op_clamp

    def _op_clamp_min(self, x: Any, min: Any) -> Any:
        return self._op_clamp(x, min)

    def _op_where(self, condition: Any, a: Any, b: Any) -> Any:
        return self._made(
            np.where(condition.numpy(), self._array(a), self._array(b)), a if self._met(a) else b
        )

    def _op_searchsorted(self, edges: Any, values: Any, right: bool = False, **_: Any) -> torch.Tensor:
        # With coins the side does not matter: a coin meets an edge with probability zero.
        u = self._array(values)
        rows = np.broadcast_to(_objects(edges), (*u.shape[:-1], edges.shape[-1])) if edges.ndim > 1 else None
        out = np.zeros(u.shape, dtype=np.int64)
        for at in np.ndindex(u.shape):
            row = _objects(edges) if rows is None else rows[at[:-1]]
            out[at] = next((i for i, edge in enumerate(row) if u[at] < edge), len(row))
        return torch.from_numpy(out)

    def _op_bucketize(self, values: Any, edges: Any, **_: Any) -> torch.Tensor:
        return self._op_searchsorted(edges, values)

    def _op_item(self, x: Any) -> Any:
        return self._array(x).reshape(())[()]

    def _op_tolist(self, x: Any) -> Any:
        return self._array(x).tolist()

    def _op_array(self, x: Any, dtype: Any = None) -> np.ndarray:
        return self._array(x)

    _op_numpy = _op_array

    def _op_isnan(self, x: Any) -> torch.Tensor:
        return torch.zeros(x.shape, dtype=torch.bool)

    _op_isinf = _op_isnan

    def _op_setitem(self, x: Any, key: Any, value: Any) -> None:
        values = self._array(x).copy()
        places = torch.arange(x.numel()).reshape(x.shape)[key]
        values.ravel()[places.numpy().ravel()] = np.broadcast_to(
            self._array(value), tuple(places.shape)
        ).ravel()
        self._into(x, values)

    def _op_copy(self, x: Any, value: Any, non_blocking: bool = False) -> Any:
        return self._made(np.broadcast_to(self._array(value), tuple(x.shape)).copy(), x)

    def _reshaped(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        pool: list[Any] = []
        like: list[torch.Tensor] = []

        def indexed(value: Any, depth: int = 0) -> Any:
            if isinstance(value, torch.Tensor) and (id(value) in self.shadows or depth):
                start = len(pool)
                pool.extend(self._array(value).ravel().tolist())
                like.append(value)
                return torch.arange(start, len(pool)).reshape(value.shape)
            if depth == 0 and isinstance(value, list | tuple) and self._met(value):
                return type(value)(indexed(each, 1) for each in value)
            return value

        cast = func.__name__ in (
            "to",
            "float",
            "double",
            "half",
            "type",
            "cpu",
            "contiguous",
            "clone",
            "detach",
        )
        places = indexed(args[0])
        moved = places if cast else func(places, *args[1:], **kwargs)

        def back(index: Any) -> Any:
            if isinstance(index, tuple | list):
                return type(index)(map(back, index))
            values = np.empty(index.numel(), dtype=object)
            values[:] = [pool[i] for i in index.ravel().tolist()]
            return self._made(values.reshape(tuple(index.shape)), like[0])

        return back(moved)

    def _array(self, value: Any) -> np.ndarray:
        if isinstance(value, torch.Tensor):
            return self.shadows[id(value)][1] if id(value) in self.shadows else _objects(value)
        array = np.empty((), dtype=object)
        array[()] = value
        return array

    def _made(self, values: Any, like: Any) -> torch.Tensor:
        if not isinstance(values, np.ndarray):
            values = self._array(values)
        dtype = like.dtype if isinstance(like, torch.Tensor) else torch.float32
        if not any(isinstance(value, Coin) for value in values.ravel().tolist()):
            return torch.from_numpy(values.astype(np.float64)).to(dtype)
        handle = torch.full(
            values.shape, float("nan"), dtype=dtype if dtype.is_floating_point else torch.float32
        )
        self.shadows[id(handle)] = (handle, values)
        return handle

    def _into(self, tensor: torch.Tensor, values: Any) -> torch.Tensor:
        if isinstance(values, torch.Tensor):
            values = self._array(values) if id(values) in self.shadows else values
        if isinstance(values, np.ndarray) and any(
            isinstance(value, Coin) for value in values.ravel().tolist()
        ):
            self.shadows[id(tensor)] = (tensor, values)
            return tensor
        self.shadows.pop(id(tensor), None)
        plain = values if isinstance(values, torch.Tensor) else torch.from_numpy(values.astype(np.float64))
        return tensor.copy_(plain.reshape(tensor.shape))


class _Stream(Seeded):
    """The draws of one generator state; a categorical draw is remembered by its row."""

    def choose(self, row: Any) -> int:
        return self._remembered(lambda: self.source.choose(row), tuple(map(float, row)))


def _objects(tensor: torch.Tensor) -> np.ndarray:
    values = np.empty(tensor.numel(), dtype=object)
    values[:] = tensor.detach().cpu().ravel().tolist()
    return values.reshape(tuple(tensor.shape))


def _outer(a: np.ndarray, b: np.ndarray, largest: bool) -> np.ndarray:
    a, b = np.broadcast_arrays(a, b)
    out = np.empty(a.shape, dtype=object)
    for at in np.ndindex(a.shape):
        x, y = (a[at], b[at]) if isinstance(a[at], Coin) else (b[at], a[at])
        capped = getattr(x, "capped", None)
        out[at] = capped(float(y), largest) if capped else (max(x, y) if largest else min(x, y))
    return out
