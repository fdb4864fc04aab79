"""A network that reads a batch of texts, each growing at its own pace."""

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from transformers.cache_utils import Cache

from draftproof.gpu.engine.cache import SlotLayer, Slots
from draftproof.gpu.engine.recorder import Recorder
from draftproof.gpu.layout import mask

IDLE: WeakKeyDictionary[Any, "Reader"] = WeakKeyDictionary()
"""By network, the reader that was given back last; it does not keep the network."""

BLOCK = 256
"""Slots; a recorded pass sees a multiple of it, what lies behind a row's end masked."""


class Reader:
    """One network and the keys and values of what it has read.

    Row b has read `lengths[b]` tokens for good; their keys lie in its first slots. What a pass writes
    behind them is forgotten unless `advance` says otherwise. The output of a pass may be overwritten
    by the next one of the same shape.
    """

    def __init__(self, network: Any, batch: int, room: int, context: int) -> None:
        """`room` is how many slots a row may need in all, `context` the number of positions there are."""
        config: Any = network.config.get_text_config(decoder=True)
        self.network: Any = network
        self.context = context
        self.device = next(network.parameters()).device
        self.recorder = Recorder(self.device)
        self.slots = Slots(batch, self._rounded(room), self.device)
        self.layers = [SlotLayer(self.slots) for _ in range(config.num_hidden_layers)]
        self.cache = Cache(layers=[*self.layers])
        self.lengths = torch.zeros(batch, dtype=torch.long, device=self.device)
        self.counts = [0] * batch
        self.additive = config._attn_implementation != "sdpa"

    @classmethod
    def of(cls, network: Any, batch: int, room: int, context: int) -> "Reader":
        """A reader that has read nothing: the one last given back, with all that it recorded, if it fits."""
        reader = IDLE.pop(network, None)
        fits = reader is not None and len(reader.counts) == batch and reader.slots.capacity >= room
        if reader is None or not fits or not Recorder(reader.device).active:
            del reader  # its memory first
            return cls(network, batch, room, context)
        reader.network, reader.counts = network, [0] * batch
        reader.lengths.zero_()
        return reader

    def give_back(self) -> None:
        """Nobody reads with it any more; it is kept for whoever comes next, if it recorded anything."""
        if self.recorder.known:
            IDLE[self.network], self.network = self, None

    def read(self, prompts: Sequence[Sequence[int]], **inputs: Any) -> Any:
        """Reads whole prompts, one a row; inputs are padded on the right to the longest."""
        size = max(map(len, prompts))
        seen = self._pass(size, 0, self._rounded(size), 0, **inputs)
        self.counts = [len(prompt) for prompt in prompts]
        self.lengths.copy_(torch.tensor(self.counts))
        return seen

    def causal(self, offset: int, size: int, **inputs: Any) -> Any:
        """A pass over `size` tokens in a row, from `offset` behind each row's end on."""
        return self._recorded(size, offset, inputs)

    def tree(self, sees: Tensor, levels: Tensor | int, first: int = 0, **inputs: Any) -> Any:
        """A pass over the nodes of a tree whose root is the token behind each row's end.

        sees [1 or B, n, N + 2] is as in `Layout`; levels [1 or B, n], or one number, are depths; the n
        nodes take the places first, first + 1, ... behind the end.
        """
        return self._recorded(sees.shape[1], first, {"sees": sees, "levels": levels, **inputs})

    def advance(self, counts: list[int], read: Tensor, places: Tensor | None) -> None:
        """Row b has read counts[b] tokens more (also on the device: read [B]).

        places [B, n], if given, says where behind the end the tokens lie; None: where they belong.
        """
        if places is not None:
            to = torch.arange(places.shape[1], device=self.device)
            source, to = (self.lengths[:, None] + each for each in (places, to))
            for layer in self.layers:  # not recorded: done twice this would be wrong
                layer.move(source, to)
        self.counts = [had + more for had, more in zip(self.counts, counts, strict=True)]
        self.lengths += read

    def back(self, count: int) -> None:
        """Forgets the last `count` tokens of every row."""
        self.counts = [had - count for had in self.counts]
        self.lengths -= count

    def keep(self, rows: list[int]) -> None:
        """Drops all rows but these."""
        index = torch.tensor(rows, device=self.device)
        for layer in self.layers:
            layer.keep(index)
        self.lengths, self.counts = self.lengths[index], [self.counts[row] for row in rows]
        self.slots.rows = self.slots.rows[: len(rows)]
        self.recorder.forget()

    def _recorded(self, size: int, offset: int, given: dict[str, Any]) -> Any:
        longest = max(self.counts)
        seen = min(self._rounded(longest + offset + size), self.slots.capacity)
        together = not self.recorder.active and min(self.counts) == longest
        start = longest + offset if together else None
        return self.recorder("pass", self._pass, size=size, offset=offset, seen=seen, start=start, **given)

    def _pass(
        self,
        size: int,
        offset: int,
        seen: int,
        start: int | None,
        sees: Tensor | None = None,
        levels: Tensor | int | None = None,
        **inputs: Any,
    ) -> Any:
        """Writes at the slots from `start` on or, where that is None, `offset` behind each row's end; the
        first `seen` slots can be seen.
        """
        behind = torch.arange(offset, offset + size, device=self.device)
        at = self.lengths[:, None] + behind
        self.slots.at = at if start is None else slice(start, start + size)
        self.slots.seen = seen
        if sees is None or levels is None:
            positions, visible = at, (torch.arange(seen, device=self.device) <= at[..., None])[:, None]
        else:
            positions = (self.lengths[:, None] + levels).expand(-1, size)
            visible = mask(sees, self.lengths, seen)
        if self.additive:
            lowest = torch.finfo(self.network.dtype).min
            visible = torch.where(visible, 0.0, lowest).to(self.network.dtype)
        return self.network(
            attention_mask=visible,
            position_ids=positions.clamp(max=self.context - 1),
            past_key_values=self.cache,
            use_cache=True,
            **inputs,
        )

    def _rounded(self, slots: int) -> int:
        """Up to whole blocks, where passes are recorded: fewer shapes."""
        return -(-slots // BLOCK) * BLOCK if self.recorder.active else slots


def padded(prompts: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Prompts as [B, longest] ids, padded with 0 on the right."""
    ids = torch.zeros(len(prompts), max(map(len, prompts)), dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, : len(prompt)] = torch.tensor(prompt, dtype=torch.long)
    return ids.to(device)
