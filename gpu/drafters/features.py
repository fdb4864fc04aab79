"""Drafting from the target's hidden states (EAGLE-3, li2025eagle3): the feature head and its drafter."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaConfig
from transformers.cache_utils import Cache
from transformers.models.llama.modeling_llama import LlamaModel, LlamaRMSNorm

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.drafters.published import config_of, fill, save, settings, weights
from draftproof.gpu.network.models import Model, shut
from draftproof.gpu.network.reader import Reader, padded
from draftproof.gpu.network.session import Accepted, Level, Session
from draftproof.theory.errors import BadInput


class Head(nn.Module):
    """What a `FeatureSession` runs: a network that predicts the next token from the last token and a feature
    of the position before it.

    `layers`: the indices of the target's hidden states from which features are made. `reads_first`: whether
    the first token of a text, which has no feature before it, is read at all.
    """

    config: Any
    layers: tuple[int, ...]
    reads_first = False

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights."""
        return next(self.parameters()).dtype

    @property
    def own_embeddings(self) -> Any:
        """Embeddings of tokens, if they are not the target's."""
        return None

    def fused(self, hidden_states: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
        """The target's hidden states as one feature, [B, T, hidden]."""
        raise NotImplementedError

    def logits(self, states: Tensor, output: Any) -> Tensor:
        """Logits [.., V] of this network's states; `output` is the target's output head."""
        return output(states)


class FeatureHead(Head):
    """Predicts the next token from the last token and a feature of the position before it.

    If the target has read that position, the feature fuses a low, a middle and a high hidden state of the
    target (of size `source`, at the indices `layers`); otherwise it is this network's own output there.
    Embeddings and output head are the target's, so only the fusion and one decoder layer are trained.
    """

    reads_first = True

    def __init__(self, config: LlamaConfig, source: int, layers: tuple[int, ...]) -> None:
        super().__init__()
        hidden = config.hidden_size
        self.config, self.source, self.layers = config, source, layers
        self.fuse = nn.Linear(source * len(layers), hidden, bias=False)
        self.feature_norm = LlamaRMSNorm(hidden, config.rms_norm_eps)
        self.token_norm = LlamaRMSNorm(hidden, config.rms_norm_eps)
        self.join = nn.Linear(2 * hidden, hidden, bias=False)
        self.decoder = LlamaModel(config)
        self.decoder.embed_tokens = None  # type: ignore[assignment]  # inputs are embeddings

    def fused(self, hidden_states: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
        """The target's hidden states as one feature, [B, T, hidden]."""
        return self.fuse(torch.cat([hidden_states[layer] for layer in self.layers], dim=-1))

    def forward(
        self,
        embedded: Tensor,
        feature: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        past_key_values: Cache | None = None,
        **options: Any,
    ) -> Tensor:
        """Hidden states [B, T, hidden], ready for the target's output head.

        `embedded` [B, T, hidden] are the embeddings of the tokens at `position_ids`, `feature` [B, T, hidden]
        belongs to the positions before them, `attention_mask` [B or 1, 1, T, keys] is true where a key is
        seen.
        """
        options |= {"attention_mask": attention_mask, "position_ids": position_ids}
        inputs = self.join(torch.cat([self.token_norm(embedded), self.feature_norm(feature)], dim=-1))
        output = self.decoder(inputs_embeds=inputs, past_key_values=past_key_values, **options)
        return output.last_hidden_state

    def save(self, folder: Path) -> None:
        """Writes model.safetensors (bfloat16) and config.json."""
        about = {"draftproof": "feature drafter", "source": self.source, "layers": list(self.layers)}
        save(self, folder, about | {"decoder": self.config.to_diff_dict()})


def new_head(target: Any) -> FeatureHead:
    """An untrained feature head for a target: one layer as wide as the target."""
    heads = "num_attention_heads", "num_key_value_heads"
    names = *heads, "hidden_size", "intermediate_size", "max_position_embeddings"
    sizes = {name: getattr(target.config, name) for name in names}
    decoder = LlamaConfig(vocab_size=1, num_hidden_layers=1, bos_token_id=None, eos_token_id=None, **sizes)
    depth = target.config.num_hidden_layers
    quarter = depth // 4
    layers = (min(2, quarter), depth // 2, depth - max(1, min(3, quarter)))
    return FeatureHead(decoder, target.config.hidden_size, layers)


def load_head(folder: Path, target: Any) -> FeatureHead:
    """The feature head saved in a folder; BadInput if it does not fit the target."""
    decoder, source, layers = settings(config_of(folder), ["decoder", "source", "layers"], folder)
    head, size = FeatureHead(LlamaConfig(**decoder), source, tuple(layers)), target.config.hidden_size
    fits = source == head.config.hidden_size == size
    if not fits or max(layers) > target.config.num_hidden_layers:
        raise BadInput(f"{folder}: made for a target of hidden size {source}, not {size}")
    return fill(head, target, weights(folder), (), folder)


class FeatureDrafter(Drafter):
    """Drafts with a feature head; not stateless, since its rows depend on where the last step stopped."""

    reads_hidden = True

    def __init__(self, head: Head, target: Model, name: str = "features") -> None:
        self.head, self.target, self.name = head, target, name
        self.embed = head.own_embeddings or target.network.get_input_embeddings()

    def begin(self, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any = None) -> Session:
        return FeatureSession(self, prompts, capacity, hidden)


class FeatureSession(Session):
    """`last` [B, 1, H] is the head's output at the root, `above` its output at the previous level. Features
    of the text come from the target; those of drafted tokens come from the head and are overwritten later.
    """

    def __init__(
        self, drafter: FeatureDrafter, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any
    ) -> None:
        self.slots = Reader.of(drafter.head, len(prompts), capacity, drafter.target.context)
        super().__init__(self.slots)
        self.head, self.target, self.embed = drafter.head, drafter.target, drafter.embed
        # There is no feature before the first token: it is left out, if it is not the only one, or has zeros.
        skipped = 0 if self.head.reads_first else 1
        read = [prompt[skipped:] or prompt for prompt in prompts]
        embedded = self.embed(padded(read, drafter.target.device))
        feature = torch.zeros_like(embedded)
        if hidden is not None:
            first = 1 - skipped
            feature[:, first:] = self.head.fused(hidden)[:, : feature.shape[1] - first]
            for row, prompt in enumerate(prompts):
                if len(prompt) == 1:
                    feature[row, 0] = 0
        output = self.slots.prefill(read, embedded=embedded, feature=feature)
        self.last = _at(output, torch.tensor([len(prompt) - 1 for prompt in read], device=output.device))
        self.slots.back(1)  # the root is the token after the end
        self.above = self.last

    def root(self) -> Tensor:
        self.above = self.last
        return self._logits(self.last)[:, 0]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        at = level.above[..., None].expand(len(tokens), -1, self.above.shape[-1])
        feature = self.above.gather(1, at)
        inputs = {"embedded": self.embed(tokens), "feature": feature}
        self.above = self.slots.forward(tokens.shape[1], level.first, level.sees, level.depth, **inputs)
        return self._logits(self.above)

    def _logits(self, states: Tensor) -> Tensor:
        logits = self.head.logits(states, self.target.network.get_output_embeddings())
        return shut(logits, self.target.known, self.target.vocab)

    def accept(self, accepted: Accepted) -> None:
        """Reads the emitted tokens, each with the target's feature at the token before."""
        assert accepted.hidden is not None
        longest = accepted.path.shape[1]
        ids = padded([[*each, *[0] * (longest - len(each))] for each in accepted.tokens], self.last.device)
        given = {
            "path": accepted.path,
            "ids": ids,
            "read": accepted.read,
            "seen": self.slots.seen(1 + longest),
        }
        hidden = {str(k): accepted.hidden[k] for k in self.head.layers}
        self.last = self.recorder("accept", self._read, **given, **hidden)
        self.slots.advance(accepted.counts, accepted.read, None)

    def _read(self, path: Tensor, ids: Tensor, read: Tensor, seen: int, **hidden: Tensor) -> Tensor:
        """The state of each text's last token."""
        rows = torch.arange(len(path), device=path.device)[:, None]
        feature = self.head.fused({int(k): each[rows, path] for k, each in hidden.items()})
        output = self.slots.forward(path.shape[1], 1, embedded=self.embed(ids), feature=feature)
        return _at(output, (read - 1).clamp(min=0))


def _at(states: Tensor, index: Tensor) -> Tensor:
    """[B, 1, H]: the state of each row at its index [B], from states [B, T, H]."""
    return states.gather(1, index[:, None, None].expand(-1, 1, states.shape[-1]))
