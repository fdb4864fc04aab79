"""How many bytes of row-sized tensors a step of decoding moves outside the models, in how many operations."""

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten
ENTRIES = {aten.searchsorted.Tensor, aten.gather.default}
"""Operations that read a few entries of a row."""


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
        if self.inside or func.is_view:
            return out
        self.operations.append(func.overloadpacket.__name__)
        taken = out if func == aten.index_select.default else (args, kwargs)
        read = [] if func in ENTRIES else tree_leaves(taken)
        for each in (*read, *tree_leaves(out)):
            if isinstance(each, Tensor) and each.numel() >= self.least:
                self.bytes += each.numel() * each.element_size()
        return out
