"""What a drafter is, and the usual one: a smaller model of the same vocabulary."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.models import Model
from draftproof.gpu.passes import Reader, padded
from draftproof.gpu.structures import Accepted, Level, Session


class Drafter:
    """Proposes tokens.

    `reads_hidden`: wants the target's hidden states; `stateless`: its rows depend on the context alone, not
    on where the last step stopped; `only_chains`: cannot draft trees.
    """

    name: str
    reads_hidden = stateless = only_chains = False

    def begin(self, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any = None) -> Session:
        """Starts on a batch of prompts whose texts take at most `capacity` slots; `hidden` are the target's
        hidden states of all but their last tokens, [B, T, H] each, if wanted and if there are any.
        """
        raise NotImplementedError


class ModelDrafter(Drafter):
    """Drafts with a causal language model."""

    stateless = True

    def __init__(self, model: Model) -> None:
        self.model, self.name = model, model.name

    def begin(self, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any = None) -> Session:
        return ModelSession(self.model, prompts, capacity)


class ModelSession(Session):
    """`last` [B, 1 or 2] are the last tokens of each text. The one before the last is read again: it may have
    been a leaf, which no pass has read, and reading a token twice changes nothing.
    """

    def __init__(self, model: Model, prompts: Sequence[Sequence[int]], capacity: int) -> None:
        super().__init__(Reader.of(model.network, len(prompts), capacity, model.context))
        self.vocab = model.vocab
        known = [prompt[:-1] for prompt in prompts]
        if any(known):
            self.reader.read(known, input_ids=padded(known, model.device), logits_to_keep=1)
        self.last = torch.tensor([prompt[-1:] for prompt in prompts], device=model.device)

    def root(self) -> Tensor:
        back = self.last.shape[1] - 1
        output = self.reader.run(back + 1, -back, input_ids=self.last, logits_to_keep=1)
        return output.logits[:, -1, : self.vocab]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        size = tokens.shape[1]
        output = self.reader.run(size, level.first, level.sees, level.depth, input_ids=tokens)
        return output.logits[..., : self.vocab]

    def accept(self, accepted: Accepted) -> None:
        """Keeps what was read of the accepted path."""
        places = accepted.draft.places
        if places is not None:
            places = places.expand(len(accepted.path), -1).gather(1, accepted.path)
        self.reader.advance(accepted.counts, accepted.read, places)
        before = self.last[:, -1:].tolist()
        ends = [[*old, *new][-2:] for old, new in zip(before, accepted.tokens, strict=True)]
        self.last = torch.tensor(ends, device=self.last.device)
