"""Drafting from the target's hidden states with an EAGLE-3 head (li2025eagle3)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.drafters.drafter import Drafter, HiddenSession
from draftproof.gpu.drafters.eagle3 import Eagle3Head
from draftproof.gpu.network.models import Model, shut
from draftproof.gpu.network.reader import Reader, padded
from draftproof.gpu.network.session import Level


class FeatureSession(HiddenSession):
    """`last` [B, 1, H] is the head's output at the root, `above` its output at the previous level. Features
    of the text come from the target; those of drafted tokens come from the head and are overwritten later.
    """

    ahead = 1

    def __init__(
        self, drafter: "FeatureDrafter", prompts: Sequence[Sequence[int]], capacity: int, hidden: Any
    ) -> None:
        slots = Reader.of(drafter.head, len(prompts), capacity, drafter.target.context)
        super().__init__(slots, drafter.head, drafter.head.layers)
        self.target, self.embed = drafter.target, drafter.embed
        # There is no feature before the first token: it is left out, if it is not the only one, or has zeros.
        read = [prompt[1:] or prompt for prompt in prompts]
        embedded = self.embed(padded(read, drafter.target.device))
        feature = torch.zeros_like(embedded)
        if hidden is not None:
            feature.copy_(self.head.fused(hidden)[:, : feature.shape[1]])
            for row, prompt in enumerate(prompts):
                if len(prompt) == 1:
                    feature[row, 0] = 0
        output = self.reader.prefill(read, embedded=embedded, feature=feature)
        self.last = _at(output, torch.tensor([len(prompt) - 1 for prompt in read], device=output.device))
        self.reader.back(1)  # the root is the token after the end
        self.above = self.last

    def root(self) -> Tensor:
        self.above = self.last
        return self._logits(self.last)[:, 0]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        at = level.above[..., None].expand(len(tokens), -1, self.above.shape[-1])
        feature = self.above.gather(1, at)
        inputs = {"embedded": self.embed(tokens), "feature": feature}
        self.above = self.reader.forward(tokens.shape[1], level.first, level.sees, level.depth, **inputs)
        return self._logits(self.above)

    def _logits(self, states: Tensor) -> Tensor:
        return shut(self.head.logits(states), self.target.known, self.target.vocab)

    def read(self, feature: Tensor, ids: Tensor, last: Tensor) -> Tensor:
        """Reads the emitted tokens, each with the target's feature at the token before; the states of the
        last ones.
        """
        output = self.reader.forward(ids.shape[1], 1, embedded=self.embed(ids), feature=feature)
        return _at(output, last)


class FeatureDrafter(Drafter):
    """Not stateless: its rows depend on where the last step stopped."""

    reads_hidden, session = True, FeatureSession

    def __init__(self, head: Eagle3Head, target: Model, name: str = "eagle3") -> None:
        self.head, self.target, self.name = head, target, name
        self.embed = head.own_embeddings or target.network.get_input_embeddings()


def _at(states: Tensor, index: Tensor) -> Tensor:
    """[B, 1, H]: the state of each row at its index [B], from states [B, T, H]."""
    return states.gather(1, index[:, None, None].expand(-1, 1, states.shape[-1]))
