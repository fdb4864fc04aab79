"""A smaller model of the same vocabulary."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.drafters.drafter import Accepted, Draft, Level, Structure
from draftproof.gpu.engine.reader import Reader, padded
from draftproof.gpu.engine.sampling import Sampling
from draftproof.gpu.models import Model


class ModelDrafter:
    """Drafts with a causal language model."""

    reads_hidden, stateless, only_chains = False, True, False

    def __init__(self, model: Model) -> None:
        self.model, self.name = model, model.name

    def begin(self, prompts: Sequence[Sequence[int]], room: int, hidden: Any = None) -> "ModelSession":
        """Reads all prompts but their last tokens."""
        return ModelSession(self.model, prompts, room)


class ModelSession:
    """The last token that was read for good is read again with the one after it: it may be a leaf, which no
    pass has read, and reading it twice changes nothing.
    """

    def __init__(self, model: Model, prompts: Sequence[Sequence[int]], room: int) -> None:
        self.vocab = model.vocab
        self.reader = Reader.of(model.network, len(prompts), room, model.context)
        self.recorder = self.reader.recorder
        known = [prompt[:-1] for prompt in prompts]
        if any(known):
            self.reader.read(known, input_ids=padded(known, model.device), logits_to_keep=1)
        self.last = torch.tensor([prompt[-1:] for prompt in prompts], device=model.device)

    def draft(self, structure: Structure, sampling: Sampling, uniforms: Tensor) -> Draft:
        """Drafts for every row."""
        return structure.grow(self, sampling, uniforms)

    def root(self) -> Tensor:
        """Logits [B, V] after each row's text."""
        back = self.last.shape[1] - 1
        seen = self.reader.causal(-back, back + 1, input_ids=self.last, logits_to_keep=1)
        return seen.logits[:, -1, : self.vocab]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        """Logits [B, m, V] after a level's tokens."""
        seen = self.reader.tree(level.sees, level.depth, level.first, input_ids=tokens)
        return seen.logits[..., : self.vocab]

    def accept(self, accepted: Accepted) -> None:
        """Keeps what was read of the accepted path."""
        places = accepted.draft.places
        if places is not None:
            places = places.expand(len(accepted.path), -1).gather(1, accepted.path)
        self.reader.advance(accepted.counts, accepted.read, places)
        before = self.last[:, -1:].tolist()
        ends = [[*old, *new][-2:] for old, new in zip(before, accepted.tokens, strict=True)]
        self.last = torch.tensor(ends, device=self.last.device)

    def keep(self, rows: list[int]) -> None:
        """Drops all rows but these."""
        self.reader.keep(rows)
        self.last = self.last[rows]

    def close(self) -> None:
        """Gives the reader back."""
        self.reader.give_back()
