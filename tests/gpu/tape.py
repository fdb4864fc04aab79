"""What a CUDA graph does, on a CPU: operations recorded once run again on the same memory."""

from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten
WAIT = {
    aten._local_scalar_dense,
    aten.nonzero,
    aten.equal,
    aten.masked_select,
    aten._unique2,
    aten.lift_fresh,
}

READ = {
    *(Tensor.item, Tensor.tolist, Tensor.cpu, Tensor.numpy),
    *(Tensor.__bool__, Tensor.__int__, Tensor.__float__, Tensor.__index__),
}
"""What reads numbers back; not all of it can be seen among the operations."""

INDEX = {aten.index, aten.index_put, aten.index_put_}


class Waits(RuntimeError):
    """The device would have been waited for, or numbers of the host baked in."""


class Unread(TorchFunctionMode):
    """Refuses to read numbers back."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in READ:
            raise Waits(func.__name__)
        return func(*args, **(kwargs or {}))


class Tape(TorchDispatchMode):
    """Records all operations; `again` repeats them, each result written where it was written first."""

    def __init__(self):
        super().__init__()
        self.steps = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.overloadpacket in WAIT or (func.overloadpacket in INDEX and _masks(args[1])):
            raise Waits(str(func))
        out = func(*args, **(kwargs or {}))
        self.steps.append((func, args, kwargs or {}, out))
        return out

    def again(self):
        for func, args, kwargs, out in self.steps:
            for old, new in zip(tree_leaves(out), tree_leaves(func(*args, **kwargs)), strict=True):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


class Recordings:
    """In the place of `gpu.graphs.recording`: counts recordings, their runs, what waited."""

    def __init__(self):
        self.made = self.ran = 0
        self.waited = []

    def __call__(self, device):
        return self.record

    def record(self, call, device):
        tape = Tape()
        try:
            with patch.object(torch.compiler, "is_compiling", lambda: True), Unread(), tape:
                result = call()
        except Waits as error:
            self.waited.append(str(error))
            return None
        self.made += 1

        def again():
            tape.again()
            self.ran += 1
            return result

        return again


def _masks(indices):
    return any(index is not None and index.dtype == torch.bool for index in indices)
