"""How many bytes of row-sized tensors a step of decoding moves outside the models, in how many operations."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from draftproof.gpu import kernels

aten = torch.ops.aten
ENTRIES = {aten.searchsorted.Tensor, aten.gather.default}
"""Operations that read a few entries of a row."""

EMPTY = {aten.empty.memory_format, aten.new_empty.default}
"""Operations that move nothing."""


class Traffic(TorchDispatchMode):
    """Counts operations, views left out, by name, and the bytes that they read and write of tensors of at
    least `least` entries. What networks do does not count; of a selection only the selected rows do.
    """

    def __init__(self, least: int, *networks: torch.nn.Module) -> None:
        super().__init__()
        self.least, self.inside, self.bytes = least, 0, 0
        self.operations: list[str] = []
        for network in networks:
            network.register_forward_pre_hook(self._enter)
            network.register_forward_hook(self._leave)

    def _enter(self, *_) -> None:
        self.inside += 1

    def _leave(self, *_) -> None:
        self.inside -= 1

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if self.inside or func.is_view or func in EMPTY:
            return out
        self.operations.append(func.overloadpacket.__name__)
        taken = out if func == aten.index_select.default else (args, kwargs)
        read = [] if func in ENTRIES else tree_leaves(taken)
        for each in (*read, *tree_leaves(out)):
            if isinstance(each, Tensor) and each.numel() >= self.least:
                self.bytes += each.numel() * each.element_size()
        return out


@contextmanager
def counting_kernels(traffic: Traffic) -> Iterator[None]:
    """Counts all bytes that kernels load and store in Triton's interpreter, and none that it moves itself."""
    if not kernels.AVAILABLE:
        yield
        return
    from triton.runtime import interpreter

    with ExitStack() as stack:
        made, grid = interpreter.InterpreterBuilder, interpreter.GridExecutor
        load, store, launch = made.create_masked_load, made.create_masked_store, grid.__call__

        def loaded(self, pointers, mask, *rest):
            found = load(self, pointers, mask, *rest)
            traffic.bytes += int(mask.data.sum()) * found.data.itemsize
            return found

        def stored(self, pointers, value, mask, *rest):
            traffic.bytes += int(mask.data.sum()) * value.data.itemsize
            return store(self, pointers, value, mask, *rest)

        def launched(self, *arguments, **options):
            traffic.inside += 1
            launch(self, *arguments, **options)
            traffic.inside -= 1

        stack.enter_context(patch.object(made, "create_masked_load", loaded))
        stack.enter_context(patch.object(made, "create_masked_store", stored))
        stack.enter_context(patch.object(grid, "__call__", launched))
        yield
