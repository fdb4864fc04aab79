"""A network that reads a batch of texts, each growing at its own pace."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache

from gpu.engine.cache import SlotLayer, Slots
from gpu.engine.layout import mask


class Reader:
    """One network and the keys and values of what it has read.

    Row b has read `lengths[b]` tokens for good; their keys lie in its first slots. What a pass writes
    behind them is forgotten unless `advance` says otherwise.
    """

    def __init__(self, network: Any, batch: int, room: int, context: int) -> None:
        """`room` is how many slots a row may need in all, `context` the number of positions there are."""
        config: Any = network.config.get_text_config(decoder=True)
        self.network, self.context = network, context
        self.device = next(network.parameters()).device
        self.slots = Slots(batch, room, self.device)
        self.layers = [SlotLayer(self.slots) for _ in range(config.num_hidden_layers)]
        self.cache = Cache(layers=[*self.layers])
        self.lengths = torch.zeros(batch, dtype=torch.long, device=self.device)
        self.counts = [0] * batch
        self.additive = config._attn_implementation != "sdpa"

    def read(self, prompts: Sequence[Sequence[int]], **inputs: Any) -> Any:
        """Reads whole prompts, one a row; inputs are padded on the right to the longest."""
        seen = self.causal(0, max(map(len, prompts)), **inputs)
        self.counts = [len(prompt) for prompt in prompts]
        self.lengths = torch.tensor(self.counts, device=self.device)
        return seen

    def causal(self, offset: int, size: int, **inputs: Any) -> Any:
        """A pass over `size` tokens in a row, from `offset` behind each row's end on."""
        at = self.lengths[:, None] + torch.arange(offset, offset + size, device=self.device)
        width = max(self.counts) + offset + size
        visible = torch.arange(width, device=self.device) <= at[..., None]
        return self._pass(offset, size, at, visible[:, None], inputs)

    def tree(self, sees: Tensor, levels: Tensor | int, first: int = 0, **inputs: Any) -> Any:
        """A pass over the nodes of a tree whose root is the token behind each row's end.

        sees [1 or B, n, N + 2] is as in `Layout`; levels [1 or B, n], or one number, are depths;
        the n nodes take the places first, first + 1, ... behind the end.
        """
        size = sees.shape[1]
        at = (self.lengths[:, None] + levels).expand(-1, size)
        width = max(self.counts) + first + size
        return self._pass(first, size, at, mask(sees, self.lengths, width), inputs)

    def advance(self, counts: list[int], read: Tensor, places: Tensor | None) -> None:
        """Row b has read counts[b] tokens more (also on the device: read [B]).

        places [B, n], if given, says where behind the end the tokens lie; None: where they belong.
        """
        if places is not None:
            to = torch.arange(places.shape[1], device=self.device)
            source, to = (self.lengths[:, None] + each for each in (places, to))
            for layer in self.layers:
                layer.move(source, to)
        self.counts = [had + more for had, more in zip(self.counts, counts, strict=True)]
        self.lengths = self.lengths + read

    def keep(self, rows: list[int]) -> None:
        """Drops all rows but these."""
        index = torch.tensor(rows, device=self.device)
        for layer in self.layers:
            layer.keep(index)
        self.lengths, self.counts = self.lengths[index], [self.counts[row] for row in rows]
        self.slots.rows = self.slots.rows[: len(rows)]

    def _pass(
        self, offset: int, size: int, positions: Tensor, visible: Tensor, inputs: dict[str, Any]
    ) -> Any:
        longest = max(self.counts)
        if min(self.counts) == longest:
            self.slots.at = slice(longest + offset, longest + offset + size)
        else:
            self.slots.at = self.lengths[:, None] + torch.arange(offset, offset + size, device=self.device)
        self.slots.seen = longest + offset + size
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


def padded(prompts: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Prompts as [B, longest] ids, padded with 0 on the right."""
    ids = torch.zeros(len(prompts), max(map(len, prompts)), dtype=torch.long)
    for row, prompt in enumerate(prompts):
        ids[row, : len(prompt)] = torch.tensor(prompt, dtype=torch.long)
    return ids.to(device)
