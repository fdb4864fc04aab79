"""The interface of drafters, and two that need no training: a smaller model, and prompt lookup."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from draftproof.gpu.drafters.structures import Sampled
from draftproof.gpu.network.fused import fused
from draftproof.gpu.network.models import Model
from draftproof.gpu.network.reader import Reader, padded
from draftproof.gpu.network.session import Accepted, Draft, Level, Session, Structure
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.sampling.tree import chain_on


class Drafter:
    """Proposes tokens.

    `reads_hidden`: needs the target's hidden states. `only_chains`: cannot draft trees. `deepest`: the most
    tokens that it drafts on one path, if there is a limit. `session`: its state on a batch.
    """

    name: str
    session: Any
    reads_hidden = only_chains = False
    deepest: int | None = None

    def begin(self, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any = None) -> Session:
        """Starts on a batch of prompts whose texts take at most `capacity` cache slots. `hidden` are the
        target's hidden states [B, T, H] of all tokens but the last, for a drafter that reads them.
        """
        return self.session(self, prompts, capacity, hidden)


class ModelSession(Session):
    """`last` [B, 1 or 2] are the last tokens of each text. The second-to-last token is read again, because it
    may have been a leaf of the draft, which no pass has read. Reading a token twice changes nothing.
    """

    def __init__(self, drafter: Any, prompts: Sequence[Sequence[int]], capacity: int, _: Any) -> None:
        model = drafter.model
        super().__init__(model.reader(len(prompts), capacity))
        known = [prompt[:-1] for prompt in prompts]
        if any(known):
            self.reader.prefill(known, input_ids=padded(known, model.device), logits_to_keep=1)
        if isinstance(self.reader, Reader):
            self.reader.network = fused(self.reader.network)
        again = min(2, *map(len, prompts))  # as many in the first step as later, if prompts allow it
        self.ends = [list(prompt[-again:]) for prompt in prompts]
        self.last = torch.tensor(self.ends, device=model.device)

    def root(self) -> Tensor:
        back = self.last.shape[1] - 1
        output = self.reader.forward(back + 1, -back, input_ids=self.last, logits_to_keep=1)
        return output.logits[:, -1]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        size = tokens.shape[1]
        output = self.reader.forward(size, level.first, level.sees, level.depth, input_ids=tokens)
        return output.logits

    def accept(self, accepted: Accepted) -> None:
        """Keeps the cached tokens of the accepted path."""
        places = accepted.draft.places
        if places is not None:
            places = places.expand(len(accepted.path), -1).gather(1, accepted.path)
        self.reader.advance(accepted.counts, accepted.read, places)
        self.ends = [[*old, *new][-2:] for old, new in zip(self.ends, accepted.tokens, strict=True)]
        self.last = torch.tensor(self.ends, device=self.last.device)

    def keep(self, rows: list[int]) -> None:
        super().keep(rows)
        self.ends = [self.ends[row] for row in rows]


class ModelDrafter(Drafter):
    """Drafts with a causal language model."""

    session = ModelSession

    def __init__(self, model: Model) -> None:
        self.model, self.name = model, model.name
        self.only_chains = model.only_chains


class HiddenSession(Session):
    """Of a network (`head`) that reads the target's hidden states at the indices `layers`: after a step it
    reads those along the accepted path.
    """

    def __init__(self, target: Model, head: Any, batch: int, slots: int, layers: tuple[int, ...]) -> None:
        super().__init__(Reader(head, batch, slots, target.context))
        self.target, self.head, self.layers = target, head, layers

    def accept(self, accepted: Accepted) -> None:
        assert accepted.hidden is not None
        longest = accepted.path.shape[1]
        ids = padded([[*each, *[0] * (longest - len(each))] for each in accepted.tokens], self.last.device)
        rows = torch.arange(len(ids), device=ids.device)[:, None]
        feature = self.head.fused({k: accepted.hidden[k][rows, accepted.path] for k in self.layers})
        self.last = self.read(feature, ids, (accepted.read - 1).clamp(min=0))
        self.reader.advance(accepted.counts, accepted.read, None)

    def read(self, feature: Tensor, ids: Tensor, last: Tensor) -> Tensor:
        """Reads the features [B, n, ..] along the path, and the tokens [B, n] after each; returns what the
        next draft begins with. `last` [B] is the index of each row's last token.
        """
        raise NotImplementedError


class NgramSession(Session):
    """The texts."""

    def __init__(self, drafter: Any, prompts: Sequence[Sequence[int]], _: int, __: Any) -> None:
        self.drafter, self.texts = drafter, [list(prompt) for prompt in prompts]

    def found(self, row: int, most: int) -> list[int]:
        """Up to `most` tokens to draft next."""
        text = self.texts[row]
        for n in range(min(self.drafter.longest, len(text)), 0, -1):
            last = text[-n:]
            for end in range(len(text) - 1, n - 1, -1):
                if text[end - n : end] == last:
                    return text[end : end + most]
        return []

    def draft(self, structure: Structure, sampling: Sampling, uniforms: Tensor, *_: Any, **__: Any) -> Draft:
        """A deterministic chain for every row, shorter if the copied text ends. It has no rows to process."""
        assert isinstance(structure, Sampled)
        device = uniforms.device
        found = [self.found(row, structure.depth) for row in range(len(self.texts))]
        tokens = padded(found, device, -1)
        if device.type != "cpu":  # where a pass over fewer tokens takes as long, and shapes stay the same
            tokens = functional.pad(tokens, (0, structure.depth - tokens.shape[1]), value=-1)
        proposal = functional.one_hot(tokens.clamp(min=0), self.drafter.vocab).float()
        return Draft(chain_on(tokens.shape[1], device), tokens, proposal)

    def accept(self, accepted: Accepted) -> None:
        for text, tokens in zip(self.texts, accepted.tokens, strict=True):
            text += tokens

    def keep(self, rows: list[int]) -> None:
        self.texts = [self.texts[row] for row in rows]


class NgramDrafter(Drafter):
    """Prompt lookup: finds the latest earlier occurrence of the text's last `longest` tokens (or of fewer,
    down to one) and drafts the tokens that followed it. Its rows are one-hot.
    """

    name, only_chains, session = "ngram", True, NgramSession

    def __init__(self, target: Model, longest: int = 3) -> None:
        self.vocab, self.longest = target.vocab, longest
