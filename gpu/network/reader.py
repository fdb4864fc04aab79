"""Forward passes over a batch of texts that grow at different rates, and their KV cache."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers.cache_utils import Cache, CacheLayerMixin

from draftproof.gpu.sampling.tree import mask
from draftproof.theory.errors import BadInput


@dataclass
class Slots:
    """The cache slots that the next pass writes, shared by all layers: `at` [B, n] of the `rows` [B, 1].
    `seen` is the number of slots that a query may attend to, `lengths` [B] are the tokens that each row has
    read.
    """

    capacity: int
    rows: Tensor
    at: Tensor
    seen: int = 0
    lengths: Any = None


class SlotLayer(CacheLayerMixin):
    """One layer's keys and values, [batch, heads, capacity, size], allocated once and written at `slots.at`;
    the rows of `slots` are the first ones.
    """

    keys: Any
    values: Any

    def __init__(self, slots: Slots) -> None:
        super().__init__()
        self.slots = slots

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        self.keys, self.values = (
            states.new_zeros(*states.shape[:2], self.slots.capacity, states.shape[-1])
            for states in (key_states, value_states)
        )
        self.is_initialized = True

    def update(self, key_states: Tensor, value_states: Tensor, *_: Any, **__: Any) -> tuple[Tensor, Tensor]:
        """Writes the new states; returns all slots that a query may attend to."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        at, rows, seen = self.slots.at, self.slots.rows, self.slots.seen
        for cache, states in ((self.keys, key_states), (self.values, value_states)):
            cache[rows, :, at] = states.transpose(1, 2)
        return self.keys[: len(rows), :, :seen], self.values[: len(rows), :, :seen]

    def move(self, source: Tensor, to: Tensor) -> None:
        """Copies the slots `source` [B, n] to the slots `to` [B, n]."""
        rows = self.slots.rows
        for cache in (self.keys, self.values):
            cache[rows, :, to] = cache[rows, :, source]

    def get_seq_length(self) -> Any:
        """[B, 1]: of each row. A network that needs one number for all rows fails in a pass."""
        return self.slots.lengths[:, None]

    def get_mask_sizes(self, query_length: int = 0) -> Any:
        raise BadInput("the network asks for one length of all rows, which have lengths of their own")

    get_max_length: Any = get_mask_sizes


class Reader:
    """A network and its KV cache. `capacity`: slots per row; `context`: positions that the network has.

    Row b has read `lengths[b]` tokens (`counts[b]` on the host), which occupy its first slots. A pass writes
    to the slots after them, and `advance` keeps some of the new slots.
    """

    def __init__(self, network: Any, batch: int, capacity: int, context: int) -> None:
        config: Any = network.config.get_text_config(decoder=True)
        self.network: Any = network
        self.context = context
        self.device = next(network.parameters()).device
        rows = torch.arange(batch, device=self.device)[:, None]
        self.slots = Slots(capacity, rows, at=rows)
        kind: Any = partial(SlotLayer, self.slots)  # a network adds as many layers as it has
        self.cache: Any = Cache(layer_class_to_replicate=kind)
        self.lengths, self.counts = torch.zeros(batch, dtype=torch.long, device=self.device), [0] * batch
        self.additive = config._attn_implementation != "sdpa"
        self.reach = getattr(network, "reach", None) or reach(config)
        self.windows = any(self.reach.values())
        self.places = torch.arange(self.slots.capacity, device=self.device)[None]
        if self.windows:
            self.positions = self.places.repeat(batch, 1)

    def prefill(self, prompts: Sequence[Sequence[int]], **inputs: Any) -> Any:
        """Reads whole prompts first of all, one per row, padded on the right to the longest."""
        output = self.forward(max(map(len, prompts)), 0, **inputs)
        self.counts = [len(prompt) for prompt in prompts]
        self.lengths.copy_(torch.tensor(self.counts))
        return output

    def forward(
        self, size: int, offset: int, sees: Tensor | None = None, levels: Tensor | int = 0, **inputs: Any
    ) -> Any:
        """A pass over `size` tokens, which are written `offset`, offset + 1, ... slots after each row's end.

        They are a sequence or, with `sees`, nodes of a tree whose root is the next token after each row's
        end: sees [1 or B, size, N + 2] is as in `draft.Tree`; levels [1 or B, size], or one number, are
        depths.
        """
        longest = max(self.counts) + offset + size
        seen = min(longest, self.slots.capacity)
        at = self.lengths[:, None] + torch.arange(offset, offset + size, device=self.device)
        self.slots.at, self.slots.seen, self.slots.lengths = at, seen, self.lengths
        if sees is None:
            positions, visible = at, (self.places[:, :seen] <= at[..., None])[:, None]
        else:
            positions = (self.lengths[:, None] + levels).expand(-1, size)
            visible = mask(sees, self.lengths, seen)
        if self.windows:
            self.positions[self.slots.rows, at] = positions
        masks = {kind: self._mask(visible, within, positions) for kind, within in self.reach.items()}
        if longest > self.context:
            positions = positions.clamp(max=self.context - 1)
        return self.network(
            attention_mask=masks if len(masks) > 1 else masks.popitem()[1],
            position_ids=positions,
            past_key_values=self.cache,
            use_cache=True,
            **inputs,
        )

    def advance(self, counts: list[int], read: Tensor, places: Tensor | None) -> None:
        """Keeps counts[b] more tokens of row b (`read` [B] is the same on the device). They are at `places`
        [B, n] after the row's end, or in sequence if `places` is None.
        """
        self.counts = [count + more for count, more in zip(self.counts, counts, strict=True)]
        if places is not None:
            to = self.lengths[:, None] + self.places[:, : places.shape[1]]
            for layer in self.cache.layers:
                layer.move(self.lengths[:, None] + places, to)
        self.lengths += read

    def back(self, count: int) -> None:
        """Forgets the last `count` tokens of every row."""
        self.counts = [length - count for length in self.counts]
        self.lengths -= count

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        index, count = torch.tensor(rows, device=self.device), len(rows)
        layers = (cache for layer in self.cache.layers for cache in (layer.keys, layer.values))
        positions = [self.positions] if self.windows else []
        for each in (self.lengths, *positions, *layers):
            each[:count] = each[index]
        self.lengths, self.counts = self.lengths[:count], [self.counts[row] for row in rows]
        self.slots.rows = self.slots.rows[:count]

    def _mask(self, visible: Tensor, within: "Within | None", positions: Tensor) -> Tensor:
        """The attention mask of one kind of layer, from what every layer may see [B, 1, n, seen] and the
        positions [B, n] of the queries.
        """
        if within is not None:
            own = torch.arange(self.slots.seen, device=self.device)
            kept = self.positions[: len(self.counts), : self.slots.seen]
            keys = torch.where(own < self.lengths[:, None], own, kept)
            visible = visible & within(positions[..., None], keys[:, None])[:, None]
        if self.additive:
            lowest = torch.finfo(self.network.dtype).min
            visible = torch.where(visible, 0.0, lowest).to(self.network.dtype)
        return visible


Within: TypeAlias = Callable[[Tensor, Tensor], Tensor]
"""Whether a query at one position may attend to a key at another, which is not after it."""


def reach(config: Any) -> dict[str, Within | None]:
    """How far back each kind of layer attends; None: over the whole text. The kinds are those by which a
    network of transformers takes one mask each; a network that has a single kind takes the mask itself.
    """
    window, chunk = (getattr(config, name, None) for name in WINDOWS)
    every: dict[str, Within | None] = {}
    if window:
        every["sliding_attention"] = lambda query, key: query - key < window
    if chunk:
        every["chunked_attention"] = lambda query, key: query // chunk == key // chunk
    kinds = getattr(config, "layer_types", None) or [*every][:1] or ["full_attention"]
    return {kind: every.get(kind) for kind in sorted(set(kinds))}


WINDOWS = "sliding_window", "attention_chunk_size"
"""Settings from which transformers makes masks in each pass."""
ORIGINAL = "original_max_position_embeddings"


def ropes(config: Any) -> list[dict[str, Any]]:
    """The settings of a network's rotary positions: one, or one for each kind of layer."""
    rope = getattr(config, "rope_parameters", None) or {}
    return [each for each in (rope, *rope.values()) if isinstance(each, dict) and "rope_type" in each]


def padded(prompts: Sequence[Sequence[int]], device: torch.device, filler: int = 0) -> Tensor:
    """Prompts as [B, longest] ids, padded with `filler` on the right."""
    ids = [torch.tensor(each, dtype=torch.long) for each in prompts]
    return pad_sequence(ids, True, filler).to(device)
