"""Where coins lie in memory while a kernel runs: a plain float cannot hold one."""

from typing import Any

import numpy as np
import torch

from draftproof.simulators.audit.randomness.lazy import Coin
from draftproof.simulators.audit.randomness.torch_mode.shadows import Shadows


class Memory:
    """Coins by address. Tensors that hold coins are put in before a launch and read back after it."""

    def __init__(self) -> None:
        self.coins: dict[int, Any] = {}

    def put(self, tensors: list[torch.Tensor], shadows: Shadows) -> None:
        """The coins of the tensors, at the addresses of their elements."""
        for tensor in tensors:
            if shadows.met(tensor):
                places = addresses(tensor).ravel().tolist()
                self.store(places, shadows.array(tensor).ravel().tolist())

    def take(self, tensors: list[torch.Tensor], shadows: Shadows) -> None:
        """Gives the tensors the coins that lie at their addresses now, and forgets all."""
        for tensor in tensors if self.coins else ():
            places = addresses(tensor).ravel().tolist()
            if any(place in self.coins for place in places):
                values = np.empty(len(places), dtype=object)
                plain = tensor.detach().ravel().tolist()
                values[:] = [self.coins.get(place, x) for place, x in zip(places, plain, strict=True)]
                shadows.into(tensor, values.reshape(tuple(tensor.shape)))
            else:
                shadows.forget(tensor)
        self.coins.clear()

    def load(self, places: np.ndarray, mask: np.ndarray, plain: np.ndarray) -> np.ndarray:
        """What lies there: `plain`, or an array of objects where there are coins among it."""
        if not self.coins:
            return plain
        found = [
            (at, coin)
            for at in np.argwhere(mask & (places >= min(self.coins)) & (places <= max(self.coins)))
            if (coin := self.coins.get(int(places[tuple(at)]))) is not None
        ]
        if not found:
            return plain
        values = plain.astype(object)
        for at, coin in found:
            values[tuple(at)] = coin
        return values

    def store(self, places: list[int], values: list[Any]) -> None:
        """Coins are kept; a plain number drives out the coin that was there."""
        for place, value in zip(places, values, strict=True):
            if isinstance(value, Coin):
                self.coins[place] = value
            else:
                self.coins.pop(place, None)


def addresses(tensor: torch.Tensor) -> np.ndarray:
    """The address of every element.

    >>> x = torch.zeros(2, 3)
    >>> (addresses(x.t()) - x.data_ptr()).tolist()
    [[0, 12], [4, 16], [8, 20]]
    """
    out = np.full(tuple(tensor.shape), tensor.data_ptr(), dtype=np.int64)
    for axis, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        steps = np.arange(size, dtype=np.int64) * (stride * tensor.element_size())
        out += steps.reshape([-1 if at == axis else 1 for at in range(tensor.ndim)])
    return out
