"""Chains for networks whose cache has no slots: each pass reads a text from its beginning."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers.modeling_outputs import CausalLMOutput


class WholeReader:
    """As `reader.Reader`, for chains only, in one pass per row. A network's states may be a recurrence's, or
    the keys of a window, from which no rejected token can be removed: none are kept.

    `texts` are the tokens of each row, of which the first `counts` are its text and the others a draft.
    """

    def __init__(self, network: Any, batch: int) -> None:
        self.network: Any = network
        self.texts: list[list[int]] = [[] for _ in range(batch)]
        self.counts = [0] * batch

    def prefill(self, prompts: Sequence[Sequence[int]], **inputs: Any) -> Any:
        """Reads whole prompts, one per row; hidden states are padded on the right."""
        output = self._pass(0, [list(prompt) for prompt in prompts], **inputs)
        self.counts = list(map(len, prompts))
        return output

    def forward(self, size: int, offset: int, *_: Any, input_ids: Tensor, **inputs: Any) -> Any:
        """A pass over the chains [B, size], the first tokens of which are `offset` after each row's end."""
        return self._pass(offset, input_ids.tolist(), **inputs)

    def advance(self, counts: list[int], read: Tensor, places: Tensor | None) -> None:
        """Keeps counts[b] more tokens of row b."""
        self.counts = [length + more for length, more in zip(self.counts, counts, strict=True)]

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        self.texts, self.counts = [self.texts[row] for row in rows], [self.counts[row] for row in rows]

    def _pass(self, offset: int, ids: list[list[int]], logits_to_keep: int = 0, **inputs: Any) -> Any:
        """All rows: logits [B, n, V] and, if asked for, each layer's hidden states [B, n, H]."""
        inputs.pop("input_ids", None)
        read = []
        for text, length, part in zip(self.texts, self.counts, ids, strict=True):
            text[length + offset :] = part
            given = torch.tensor([text or [0]], device=self.network.device)
            read.append(self.network(input_ids=given, use_cache=False, **inputs))
        sizes = list(map(len, ids))
        logits = _padded([output.logits for output in read], sizes)
        hidden = None
        if inputs.get("output_hidden_states"):
            layers = zip(*(output.hidden_states for output in read), strict=True)
            hidden = tuple(_padded(layer, sizes) for layer in layers)
        return CausalLMOutput(logits=logits, hidden_states=hidden)


def _padded(rows: Sequence[Tensor], sizes: Sequence[int]) -> Tensor:
    """[B, longest, n]: the last places of each row [1, T, n], padded on the right."""
    pairs = zip(rows, sizes, strict=True)
    return pad_sequence([states[0, states.shape[1] - size :] for states, size in pairs], True)
