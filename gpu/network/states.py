"""Chains for networks whose cache has no slots: each row keeps the network's own states and can go back."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers.modeling_outputs import CausalLMOutput

STATES = "past_key_values", "cache_params", "state"
"""What networks call the states that a pass returns and the next pass takes."""


class Text:
    """A row: the tokens that were read, of which the first `length` are its text and the others a draft.

    `states` are the network's after the first `read` tokens, by the name of its argument; `kept` is a copy
    from the beginning of the step, with the number of tokens before it.
    """

    def __init__(self, network: Any, whole: bool) -> None:
        self.network, self.whole = network, whole
        self.tokens: list[int] = []
        self.length = self.read = 0
        self.states: dict[str, Any] = {}
        self.kept: tuple[int, dict[str, Any]] = 0, {}

    def feed(self, start: int, ids: list[int], **inputs: Any) -> Any:
        """The output at `ids`, which become the tokens from place `start` on."""
        self.tokens[start:] = ids
        if start < self.read:
            self.read, self.states = self.kept[0], deepcopy(self.kept[1])
        if self.states and self.read < start:
            self._pass(start)
        if start <= self.length:
            self.kept = self.read, deepcopy(self.states)
        return self._pass(len(self.tokens), **inputs)

    def _pass(self, end: int, **inputs: Any) -> Any:
        device = next(self.network.parameters()).device
        ids = torch.tensor([self.tokens[self.read : end]], device=device)
        output = self.network(input_ids=ids, use_cache=not self.whole, **self.states, **inputs)
        if self.whole:
            return output
        name = next((name for name in STATES if output.get(name) is not None), None)
        if name is not None:
            self.states, self.read = {name: output[name]}, end
        return output


class StateReader:
    """As `reader.Reader`, for chains only, in one pass per row.

    A network's states may be a recurrence's, or the keys of a window, from which no token can be removed. So
    they are copied before each step, and after a rejection the copy reads the accepted tokens again. If
    `whole`, or if the network returns no states, each pass reads the whole text.
    """

    def __init__(self, network: Any, batch: int, whole: bool = False) -> None:
        self.texts = [Text(network, whole) for _ in range(batch)]

    def prefill(self, prompts: Sequence[Sequence[int]], **inputs: Any) -> Any:
        """Reads whole prompts, one per row; hidden states are padded on the right."""
        output = self._pass(0, [list(prompt) for prompt in prompts], **inputs)
        for text in self.texts:
            text.length = len(text.tokens)
        return output

    def forward(self, size: int, offset: int, *_: Any, input_ids: Tensor, **inputs: Any) -> Any:
        """A pass over the chains [B, size], the first tokens of which are `offset` after each row's end."""
        return self._pass(offset, input_ids.tolist(), **inputs)

    def advance(self, counts: list[int], read: Tensor, places: Tensor | None) -> None:
        """Keeps counts[b] more tokens of row b."""
        for text, count in zip(self.texts, counts, strict=True):
            text.length += count

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows of the batch."""
        self.texts = [self.texts[row] for row in rows]

    def _pass(self, offset: int, ids: list[list[int]], logits_to_keep: int = 0, **inputs: Any) -> Any:
        """All rows: logits [B, n, V] and, if asked for, each layer's hidden states [B, n, H]."""
        inputs.pop("input_ids", None)
        read = [
            text.feed(text.length + offset, part, **inputs) if part else None
            for text, part in zip(self.texts, ids, strict=True)
        ]
        some = next(output for output in read if output is not None)  # an empty row is none of its places
        pairs = [(output or some, len(part)) for output, part in zip(read, ids, strict=True)]
        logits = _padded([(output.logits, size) for output, size in pairs])
        if not inputs.get("output_hidden_states"):
            return CausalLMOutput(logits=logits)
        each = range(len(some.hidden_states))
        hidden = (_padded([(output.hidden_states[k], size) for output, size in pairs]) for k in each)
        return CausalLMOutput(logits=logits, hidden_states=tuple(hidden))


def _padded(rows: list[tuple[Tensor, int]]) -> Tensor:
    """[B, longest, n]: the last `size` places of each row [1, T, n], padded on the right."""
    return pad_sequence([states[0, states.shape[1] - size :] for states, size in rows], True)
