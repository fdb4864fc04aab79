"""A drafter that reads the target's hidden states (EAGLE-3, li2025eagle3)."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from draftproof.gpu.drafters.drafter import Accepted, Draft, Level, Structure
from draftproof.gpu.drafters.feature_head import FeatureHead
from draftproof.gpu.engine.reader import Reader, padded
from draftproof.gpu.engine.sampling import Sampling
from draftproof.gpu.models import Model


class FeatureDrafter:
    """Drafts with a feature head over the target's hidden states.

    Its rows depend on how far the target had read when it began, so it is not stateless.
    """

    reads_hidden, stateless, only_chains = True, False, False

    def __init__(self, head: FeatureHead, target: Model, name: str = "features") -> None:
        self.head, self.target, self.name = head, target, name

    def begin(
        self, prompts: Sequence[Sequence[int]], room: int, hidden: tuple[Tensor, ...] | None
    ) -> "FeatureSession":
        """Reads the prompts with the features of all their tokens but the last."""
        return FeatureSession(self, prompts, room, hidden)


class FeatureSession:
    """The text's features are the target's, those of a draft its own; the latter are overwritten."""

    def __init__(
        self,
        drafter: FeatureDrafter,
        prompts: Sequence[Sequence[int]],
        room: int,
        hidden: tuple[Tensor, ...] | None,
    ) -> None:
        target = drafter.target.network
        self.head, self.vocab = drafter.head, drafter.target.vocab
        self.embed, self.output = target.get_input_embeddings(), target.get_output_embeddings()
        self.reader = Reader.of(self.head, len(prompts), room, drafter.target.context)
        self.recorder = self.reader.recorder
        ids = padded(prompts, drafter.target.device)
        shape = (*ids.shape, self.head.config.hidden_size)
        feature = self.embed.weight.new_zeros(shape)  # nothing stands before the first token
        if hidden is not None:
            feature[:, 1:] = self.head.fused(hidden)[:, : shape[1] - 1]
        seen = self.reader.read(prompts, embedded=self.embed(ids), feature=feature)
        self._stand(seen, [len(prompt) - 1 for prompt in prompts])
        self.reader.back(1)  # the root is behind the end
        self.above = self.top

    def _stand(self, seen: Tensor, index: list[int]) -> None:
        """Takes each row's hidden state at `index` as the root's."""
        at = torch.tensor(index, device=seen.device)[:, None, None].expand(-1, 1, seen.shape[-1])
        self.top = seen.gather(1, at)

    def draft(self, structure: Structure, sampling: Sampling, uniforms: Tensor) -> Draft:
        """Drafts for every row."""
        return structure.grow(self, sampling, uniforms)

    def root(self) -> Tensor:
        """Logits [B, V] after each row's text."""
        self.above = self.top
        return self.output(self.top)[:, 0, : self.vocab]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        """Logits [B, m, V] after a level's tokens."""
        at = level.above[..., None].expand(len(tokens), -1, self.above.shape[-1])
        feature = self.above.gather(1, at)
        embedded = self.embed(tokens)
        self.above = self.reader.tree(
            level.sees, level.depth, level.first, embedded=embedded, feature=feature
        )
        return self.output(self.above)[..., : self.vocab]

    def accept(self, accepted: Accepted) -> None:
        """Reads the emitted tokens with the target's features of what stands before them."""
        assert accepted.hidden is not None
        rows = torch.arange(len(accepted.path), device=accepted.path.device)[:, None]
        feature = self.head.fused({k: accepted.hidden[k][rows, accepted.path] for k in self.head.layers})
        longest = feature.shape[1]
        ids = padded(accepted.tokens, feature.device)
        ids = functional.pad(ids, (0, longest - ids.shape[1]))
        seen = self.reader.causal(1, longest, embedded=self.embed(ids), feature=feature)
        self._stand(seen, [count - 1 for count in accepted.counts])
        self.reader.advance(accepted.counts, accepted.read, None)

    def keep(self, rows: list[int]) -> None:
        """Drops all rows but these."""
        self.reader.keep(rows)
        self.top = self.top[rows]

    def close(self) -> None:
        """Gives the reader back."""
        self.reader.give_back()
