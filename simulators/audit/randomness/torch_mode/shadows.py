"""Tensors of coins: a handle of NaN, and the array of lazy numbers that shadows it."""

from typing import Any

import numpy as np
import torch

from draftproof.simulators.audit.randomness.lazy import Coin


class Shadows:
    """Which tensors hold coins, and which coins."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[torch.Tensor, np.ndarray]] = {}

    def met(self, value: Any) -> bool:
        """Whether there are coins in a tensor, in a number or anywhere in a list."""
        if isinstance(value, torch.Tensor):
            return id(value) in self._held
        if isinstance(value, tuple | list):
            return any(map(self.met, value))
        return isinstance(value, Coin)

    def forget(self, tensor: Any) -> None:
        """The tensor holds plain numbers from now on."""
        self._held.pop(id(tensor), None)

    def array(self, value: Any) -> np.ndarray:
        """What a tensor or a number holds, as an object array."""
        if isinstance(value, torch.Tensor):
            return self._held[id(value)][1] if id(value) in self._held else objects(value)
        array = np.empty((), dtype=object)
        array[()] = value
        return array

    def made(self, values: Any, like: Any) -> torch.Tensor:
        """A new tensor that holds the values, a handle where there are coins among them."""
        if not isinstance(values, np.ndarray):
            values = self.array(values)
        dtype = like.dtype if isinstance(like, torch.Tensor) else torch.float32
        if not has_coins(values):
            return torch.from_numpy(values.astype(np.float64)).to(dtype)
        handle = torch.full(
            values.shape, float("nan"), dtype=dtype if dtype.is_floating_point else torch.float32
        )
        self._held[id(handle)] = (handle, values)
        return handle

    def into(self, tensor: torch.Tensor, values: Any) -> torch.Tensor:
        """The tensor itself, holding the values from now on."""
        if isinstance(values, torch.Tensor):
            values = self.array(values) if id(values) in self._held else values
        if isinstance(values, np.ndarray) and has_coins(values):
            self._held[id(tensor)] = (tensor, values)
            return tensor
        self._held.pop(id(tensor), None)
        plain = values if isinstance(values, torch.Tensor) else torch.from_numpy(values.astype(np.float64))
        return tensor.copy_(plain.reshape(tensor.shape))


def has_coins(values: np.ndarray) -> bool:
    """Whether any of the values is lazy."""
    return any(isinstance(value, Coin) for value in values.ravel().tolist())


def objects(tensor: torch.Tensor) -> np.ndarray:
    """Its numbers as an object array."""
    values = np.empty(tensor.numel(), dtype=object)
    values[:] = tensor.detach().cpu().ravel().tolist()
    return values.reshape(tuple(tensor.shape))
