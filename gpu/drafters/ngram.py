"""Prompt lookup: copies what followed the last few tokens where they stood in the text before (no model)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.models import Model
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import Accepted, Draft, Sampled, Session, Structure


class NgramDrafter(Drafter):
    """Copies the tokens that followed the latest earlier place of the last `longest` tokens, or of fewer of
    them down to one; its rows are one-hot.
    """

    name, only_chains = "ngram", True

    def __init__(self, target: Model, longest: int = 3) -> None:
        self.vocab, self.longest = target.vocab, longest

    def begin(self, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any = None) -> Session:
        return NgramSession(self, prompts)


class NgramSession(Session):
    """Texts, and where each n-gram ended last."""

    def __init__(self, drafter: NgramDrafter, prompts: Sequence[Sequence[int]]) -> None:
        self.drafter = drafter
        self.texts: list[list[int]] = [[] for _ in prompts]
        self.ends: list[dict[tuple[int, ...], int]] = [{} for _ in prompts]
        for row, prompt in enumerate(prompts):
            self._append(row, prompt)

    def _append(self, row: int, tokens: Sequence[int]) -> None:
        # An n-gram is entered when a token follows it, so the text's own end is never found.
        text, ends = self.texts[row], self.ends[row]
        for token in tokens:
            for n in range(1, min(self.drafter.longest, len(text)) + 1):
                ends[tuple(text[-n:])] = len(text)
            text.append(token)

    def found(self, row: int, most: int) -> list[int]:
        """Up to `most` tokens that may come next."""
        text, ends = self.texts[row], self.ends[row]
        for n in range(min(self.drafter.longest, len(text)), 0, -1):
            end = ends.get(tuple(text[-n:]))
            if end is not None:
                return text[end : end + most]
        return []

    def draft(self, structure: Structure, sampling: Sampling, uniforms: Tensor) -> Draft:
        """A chain for every row, cut short where the text ends; nothing is random."""
        assert isinstance(structure, Sampled)
        gamma = structure.depth
        found = [self.found(row, gamma) for row in range(len(self.texts))]
        tokens = torch.tensor([each + [-1] * (gamma - len(each)) for each in found], device=uniforms.device)
        proposal = functional.one_hot(tokens.clamp(min=0), self.drafter.vocab).float()
        return Draft(structure.tree, tokens, proposal)

    def accept(self, accepted: Accepted) -> None:
        for row, tokens in enumerate(accepted.tokens):
            self._append(row, tokens)

    def keep(self, rows: list[int]) -> None:
        self.texts = [self.texts[row] for row in rows]
        self.ends = [self.ends[row] for row in rows]

    def close(self) -> None:
        pass
