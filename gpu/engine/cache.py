"""A static key-value cache whose rows are written at slots of their own."""

from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import CacheLayerMixin


class Slots:
    """Where the next pass writes, and how many slots it may see; one object for all layers of a cache."""

    def __init__(self, batch: int, capacity: int, device: torch.device) -> None:
        self.capacity = capacity
        self.rows = torch.arange(batch, device=device)[:, None]
        self.at: Tensor | slice = slice(0, 0)
        self.seen = 0


class SlotLayer(CacheLayerMixin):
    """One layer's keys and values, [B, heads, capacity, size], written at `slots.at`."""

    keys: Any
    values: Any

    def __init__(self, slots: Slots) -> None:
        super().__init__()
        self.slots = slots

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        """Allocates the whole capacity, once."""
        shape = (*key_states.shape[:2], self.slots.capacity)
        self.keys = key_states.new_zeros(*shape, key_states.shape[-1])
        self.values = value_states.new_zeros(*shape, value_states.shape[-1])
        self.is_initialized = True

    def update(
        self, key_states: Tensor, value_states: Tensor, *_: object, **__: object
    ) -> tuple[Tensor, Tensor]:
        """Writes the new states and returns all that a query may see."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        at, rows, seen = self.slots.at, self.slots.rows, self.slots.seen
        if isinstance(at, slice):
            self.keys[:, :, at] = key_states
            self.values[:, :, at] = value_states
        else:
            self.keys[rows, :, at] = key_states.transpose(1, 2)
            self.values[rows, :, at] = value_states.transpose(1, 2)
        return self.keys[:, :, :seen], self.values[:, :, :seen]

    def move(self, source: Tensor, to: Tensor) -> None:
        """Copies slots source [B, n] to slots to [B, n]."""
        rows = self.slots.rows
        self.keys[rows, :, to] = self.keys[rows, :, source]
        self.values[rows, :, to] = self.values[rows, :, source]

    def keep(self, rows: Tensor) -> None:
        """Drops all rows but these."""
        self.keys, self.values = self.keys[rows], self.values[rows]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Number and offset of the keys that a mask covers."""
        return self.slots.seen, 0

    def get_seq_length(self) -> int:
        """The number of slots that the next pass may see."""
        return self.slots.seen

    def get_max_length(self) -> int:
        """The capacity."""
        return self.slots.capacity
