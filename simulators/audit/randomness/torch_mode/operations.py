"""torch functions that decide between coins, gather them or hand them out."""

from typing import Any

import numpy as np
import torch

from draftproof.simulators.audit.randomness.torch_mode.arithmetic import extreme
from draftproof.simulators.audit.randomness.torch_mode.shadows import Shadows, objects

TopK = torch.return_types.topk


class Operations:
    """`op_NAME(...)` is torch's NAME on tensors of coins."""

    def __init__(self, shadows: Shadows):
        self.shadows = shadows

    def op_argmax(self, x: Any, dim: Any = None, keepdim: bool = False) -> torch.Tensor:
        return torch.from_numpy(np.array(np.argmax(self.shadows.array(x), axis=dim, keepdims=keepdim)))

    def op_argmin(self, x: Any, dim: Any = None, keepdim: bool = False) -> torch.Tensor:
        return torch.from_numpy(np.array(np.argmin(self.shadows.array(x), axis=dim, keepdims=keepdim)))

    def op_max(self, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return self._extreme(x, dim, keepdim, np.argmax)

    def op_min(self, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return self._extreme(x, dim, keepdim, np.argmin)

    def _extreme(self, x: Any, dim: Any, keepdim: bool, arg: Any) -> Any:
        if dim is None:
            flat = self.shadows.array(x).ravel()
            return self.shadows.made(np.array(flat[arg(flat)], dtype=object), x)
        index = arg(self.shadows.array(x), axis=dim, keepdims=True)
        values = np.take_along_axis(self.shadows.array(x), index, dim)
        if not keepdim:
            index, values = np.squeeze(index, dim), np.squeeze(values, dim)
        return self.shadows.made(values, x), torch.from_numpy(np.array(index))

    def op_topk(self, x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        arg = np.argmax if largest else np.argmin
        rows = np.moveaxis(self.shadows.array(x), dim, -1)
        index = np.empty((*rows.shape[:-1], k), dtype=np.int64)
        for at in np.ndindex(rows.shape[:-1]):
            left = list(range(rows.shape[-1]))
            index[at] = [left.pop(int(arg(rows[at][left]))) for _ in range(k)]
        index = np.moveaxis(index, -1, dim)
        values = np.take_along_axis(self.shadows.array(x), index, dim)
        return TopK((self.shadows.made(values, x), torch.from_numpy(index)))

    def op_cumprod(self, x: Any, dim: int) -> Any:
        return self.shadows.made(np.cumprod(self.shadows.array(x), axis=dim), x)

    def op_cumsum(self, x: Any, dim: int) -> Any:
        return self.shadows.made(np.cumsum(self.shadows.array(x), axis=dim), x)

    def op_prod(self, x: Any, dim: Any = None) -> Any:
        return self.shadows.made(np.array(np.prod(self.shadows.array(x), axis=dim), dtype=object), x)

    def op_clamp(self, x: Any, min: Any = None, max: Any = None) -> Any:
        values = self.shadows.array(x)
        if min is not None:
            values = extreme(values, self.shadows.array(min), True)
        if max is not None:
            values = extreme(values, self.shadows.array(max), False)
        return self.shadows.made(values, x)

    op_clip = op_clamp

    def op_clamp_min(self, x: Any, min: Any) -> Any:
        return self.op_clamp(x, min)

    def op_where(self, condition: Any, a: Any, b: Any) -> Any:
        return self.shadows.made(
            np.where(condition.numpy(), self.shadows.array(a), self.shadows.array(b)),
            a if self.shadows.met(a) else b,
        )

    def op_searchsorted(self, edges: Any, values: Any, right: bool = False, **_: Any) -> torch.Tensor:
        # With coins the side does not matter: a coin meets an edge with probability zero.
        u = self.shadows.array(values)
        rows = np.broadcast_to(objects(edges), (*u.shape[:-1], edges.shape[-1])) if edges.ndim > 1 else None
        out = np.zeros(u.shape, dtype=np.int64)
        for at in np.ndindex(u.shape):
            row = objects(edges) if rows is None else rows[at[:-1]]
            out[at] = next((i for i, edge in enumerate(row) if u[at] < edge), len(row))
        return torch.from_numpy(out)

    def op_bucketize(self, values: Any, edges: Any, **_: Any) -> torch.Tensor:
        return self.op_searchsorted(edges, values)

    def op_item(self, x: Any) -> Any:
        return self.shadows.array(x).reshape(())[()]

    def op_tolist(self, x: Any) -> Any:
        return self.shadows.array(x).tolist()

    def op_array(self, x: Any, dtype: Any = None) -> np.ndarray:
        return self.shadows.array(x)

    op_numpy = op_array

    def op_isnan(self, x: Any) -> torch.Tensor:
        return torch.zeros(x.shape, dtype=torch.bool)

    op_isinf = op_isnan

    def op_setitem(self, x: Any, key: Any, value: Any) -> None:
        values = self.shadows.array(x).copy()
        places = torch.arange(x.numel()).reshape(x.shape)[key]
        values.ravel()[places.numpy().ravel()] = np.broadcast_to(
            self.shadows.array(value), tuple(places.shape)
        ).ravel()
        self.shadows.into(x, values)

    def op_copy(self, x: Any, value: Any, non_blocking: bool = False) -> Any:
        return self.shadows.made(np.broadcast_to(self.shadows.array(value), tuple(x.shape)).copy(), x)
