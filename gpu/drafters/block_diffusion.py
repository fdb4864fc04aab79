"""Drafting a block of tokens in one pass (DFlash, chen2026dflash): the network and its drafter."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import Qwen3Config
from transformers.cache_utils import Cache
from transformers.models.qwen3.modeling_qwen3 import Qwen3MLP, Qwen3RMSNorm, Qwen3RotaryEmbedding, rotate_half

from draftproof.gpu.drafters.drafter import Drafter
from draftproof.gpu.network.models import Model, shut
from draftproof.gpu.network.reader import Reader, padded
from draftproof.gpu.network.session import Accepted, Draft, Level, Session, Structure
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling


@dataclass(frozen=True)
class Variant:
    """What a block drafter has beside DFlash's parts (DSpark, dspark2026throughput). `markov`: rank of a bias
    W2 W1[x] on the token after x, 0 for none; `confidence`: a head that predicts sum min(p, q) of each row.
    """

    markov: int = 0
    confidence: bool = False


class Attention(nn.Module):
    """Attention of a block to its context and to all of itself; the context has no queries."""

    def __init__(self, config: Qwen3Config, number: int) -> None:
        super().__init__()
        hidden, bias = config.hidden_size, config.attention_bias
        self.number, self.size = number, config.head_dim or hidden // config.num_attention_heads
        keys = (config.num_key_value_heads or config.num_attention_heads) * self.size
        self.q_proj = nn.Linear(hidden, config.num_attention_heads * self.size, bias=bias)
        self.k_proj, self.v_proj = (nn.Linear(hidden, keys, bias=bias) for _ in range(2))
        self.o_proj = nn.Linear(config.num_attention_heads * self.size, hidden, bias=bias)
        self.q_norm, self.k_norm = (Qwen3RMSNorm(self.size, config.rms_norm_eps) for _ in range(2))

    def keep(self, states: Tensor, turn: tuple[Tensor, Tensor], cache: Cache) -> Any:
        """Writes keys and values of states [B, n, H] to the cache; returns all of them."""
        keys = _turned(self.k_norm(self._heads(self.k_proj(states))), turn)
        return cache.update(keys, self._heads(self.v_proj(states)).transpose(1, 2), self.number)

    def forward(self, states: Tensor, turn: tuple[Tensor, Tensor], cache: Cache, mask: Tensor) -> Tensor:
        """[B, n, H]; mask [B or 1, 1, n, keys] is true where a key is seen."""
        query = _turned(self.q_norm(self._heads(self.q_proj(states))), turn)
        keys, values = self.keep(states, turn, cache)
        out = functional.scaled_dot_product_attention(
            query, keys.to(query), values.to(query), mask, enable_gqa=True
        )
        return self.o_proj(out.transpose(1, 2).flatten(2))

    def _heads(self, states: Tensor) -> Tensor:
        return states.unflatten(-1, (-1, self.size))


class Layer(nn.Module):
    """One layer; the context passes through its attention alone."""

    def __init__(self, config: Qwen3Config, number: int) -> None:
        super().__init__()
        self.self_attn, self.mlp = Attention(config, number), Qwen3MLP(config)
        self.input_layernorm, self.post_attention_layernorm = (
            Qwen3RMSNorm(config.hidden_size, config.rms_norm_eps) for _ in range(2)
        )

    def forward(self, states: Tensor, turn: tuple[Tensor, Tensor], cache: Cache, mask: Tensor) -> Tensor:
        states = states + self.self_attn(self.input_layernorm(states), turn, cache, mask)
        return states + self.mlp(self.post_attention_layernorm(states))


class Markov(nn.Module):
    """DSpark's low-rank bias on the logits of the token after a known one."""

    def __init__(self, vocab: int, rank: int) -> None:
        super().__init__()
        self.markov_w1, self.markov_w2 = nn.Embedding(vocab, rank), nn.Linear(rank, vocab, bias=False)
        nn.init.zeros_(self.markov_w2.weight)


class Confidence(nn.Module):
    """DSpark's logit of the probability that a drafted token is accepted."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.proj = nn.Linear(size, 1)


class BlockNetwork(nn.Module):
    """A block is an anchor, the text's last token, and masks, each for one of the tokens after it.

    Context are the target's hidden states, after the layers `layers` (0 is the first), of the tokens before
    the anchor. Embeddings and output head are the target's. Parameters have the names of DFlash's published
    checkpoints; `mask_embedding` is there if no token of the target's serves as the mask.
    """

    def __init__(
        self,
        config: Qwen3Config,
        block: int,
        layers: tuple[int, ...],
        variant: Variant | None = None,
        mask: int | None = None,
    ) -> None:
        super().__init__()
        config._attn_implementation = "sdpa"
        variant, hidden = variant or Variant(), config.hidden_size
        self.config, self.block, self.sources, self.variant, self.mask = config, block, layers, variant, mask
        self.fc = nn.Linear(len(layers) * hidden, hidden, bias=False)
        self.hidden_norm, self.norm = (Qwen3RMSNorm(hidden, config.rms_norm_eps) for _ in range(2))
        self.layers = nn.ModuleList(Layer(config, k) for k in range(config.num_hidden_layers))
        self.rotary_emb = Qwen3RotaryEmbedding(config)
        if mask is None:
            self.mask_embedding = nn.Parameter(0.02 * torch.randn(hidden))
        if variant.markov:
            self.markov_head = Markov(config.vocab_size, variant.markov)
        if variant.confidence:
            self.confidence_head = Confidence(hidden + variant.markov)

    @property
    def dtype(self) -> torch.dtype:
        return self.norm.weight.dtype

    def chosen(self, hidden_states: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
        """The hidden states [B, T, H] after the layers that are read, side by side."""
        return torch.cat([hidden_states[layer + 1] for layer in self.sources], dim=-1)

    def opening(self, anchors: Tensor, embed: Any) -> Tensor:
        """The inputs [.., block, H] of blocks with these anchors; `embed` has the target's embeddings."""
        mask = self.mask_embedding if self.mask is None else embed(anchors.new_tensor(self.mask))
        first = embed(anchors)[..., None, :]
        rest = mask.to(first).expand(*anchors.shape, self.block - 1, -1)
        return torch.cat((first, rest), -2)

    def forward(
        self,
        embedded: Tensor | None = None,
        hidden: Tensor | None = None,
        *,
        position_ids: Tensor,
        past_key_values: Cache,
        attention_mask: Tensor | None = None,
        **_: Any,
    ) -> Tensor:
        """Hidden states of the blocks `embedded` [B, n, H], ready for the target's output head. If `hidden`
        [B, T, m H] is given instead, only keeps its keys and values, for the blocks that come later.
        """
        given = hidden if embedded is None else embedded
        assert given is not None
        turn = self.rotary_emb(given, position_ids)
        if embedded is None:
            context = self.hidden_norm(self.fc(given))
            for layer in self.layers:
                layer.self_attn.keep(context, turn, past_key_values)  # type: ignore
            return context
        for layer in self.layers:
            embedded = layer(embedded, turn, past_key_values, attention_mask)
        return self.norm(embedded)

    def biased(self, logits: Tensor, before: Tensor) -> Tensor:
        """Logits [.., V] with the bias that the tokens `before` [..] give them."""
        if not self.variant.markov:
            return logits
        return logits + self.markov_head.markov_w2(self.markov_head.markov_w1(before))

    def confidence(self, states: Tensor, before: Tensor) -> Tensor:
        """The logit [..] of sum min(p, q), from the states [.., H] of masks and the tokens before them."""
        if self.variant.markov:
            states = torch.cat((states, self.markov_head.markov_w1(before)), -1)
        return self.confidence_head.proj(states)[..., 0]


class BlockDrafter(Drafter):
    """Drafts with a block network: without a Markov head all nodes of one depth have the same row. It is not
    stateless, since its rows depend on where the last step stopped.
    """

    reads_hidden = True

    def __init__(self, network: BlockNetwork, target: Model, name: str = "block") -> None:
        self.network, self.target, self.name = network, target, name
        self.deepest = network.block - 1
        self.by_depth = not network.variant.markov

    def begin(self, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any = None) -> Session:
        return BlockSession(self, prompts, capacity, hidden)


class BlockSession(Session):
    """The reader keeps the context's keys and values; a block is written behind them and then overwritten.
    `last` [B, 1] are the anchors, `states` [B, block - 1, H] and `rows` [B, block - 1, V] those of the masks.
    """

    states: Tensor
    rows: Tensor

    def __init__(
        self, drafter: BlockDrafter, prompts: Sequence[Sequence[int]], capacity: int, hidden: Any
    ) -> None:
        network, self.target, device = drafter.network, drafter.target, drafter.target.device
        self.slots = Reader.of(network, len(prompts), capacity + network.block, drafter.target.context)
        super().__init__(self.slots)
        self.network, self.block, whole = network, network.block, drafter.target.network
        self.embed, self.output = whole.get_input_embeddings(), whole.get_output_embeddings()
        if hidden is not None:
            self.slots.prefill([prompt[:-1] for prompt in prompts], hidden=network.chosen(hidden))
        self.last = torch.tensor([prompt[-1:] for prompt in prompts], device=device)
        self.sees = functional.pad(
            torch.ones(1, network.block, network.block + 1, dtype=torch.bool, device=device), (0, 1)
        )
        self.levels = torch.arange(network.block, device=device)[None]

    def root(self) -> Tensor:
        embedded = self.network.opening(self.last[:, 0], self.embed)
        output = self.slots.forward(self.network.block, 0, self.sees, self.levels, embedded=embedded)
        self.states = output[:, 1:]
        self.rows = self.output(self.states)
        return self._after(self.last, 0)[:, 0]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        return self._after(tokens, level.depth)

    def by_depth(self) -> Tensor:
        """Logits [B, block - 1, V] of the next tokens, none of which depends on the others."""
        self.root()
        return shut(self.rows, self.target.known, self.target.vocab)

    def _after(self, tokens: Tensor, depth: int) -> Tensor:
        rows = self.rows[:, depth, None].expand(-1, tokens.shape[1], -1)
        return shut(self.network.biased(rows, tokens), self.target.known, self.target.vocab)

    def drawn(
        self, structure: Structure, sampling: Sampling, uniforms: Tensor, history: History | None
    ) -> Draft:
        """Chains have the confidence of each row, if the network has a head for it."""
        draft = super().drawn(structure, sampling, uniforms, history)
        if not self.network.variant.confidence or not draft.tree.is_chain:
            return draft
        before = torch.cat((self.last, draft.tokens.clamp(min=0)), 1)[:, :-1]
        logits = self.network.confidence(self.states[:, : before.shape[1]], before)
        return replace(draft, confidence=logits.float().sigmoid())

    def accept(self, accepted: Accepted) -> None:
        """Keeps the context of the accepted path."""
        assert accepted.hidden is not None
        hidden = {str(layer + 1): accepted.hidden[layer + 1] for layer in self.network.sources}
        seen = self.slots.seen(accepted.path.shape[1])
        self.recorder("accept", self._read, path=accepted.path, seen=seen, **hidden)
        self.slots.advance(accepted.counts, accepted.read, None)
        self.last = padded([tokens[-1:] for tokens in accepted.tokens], self.last.device)

    def _read(self, path: Tensor, seen: int, **hidden: Tensor) -> Any:
        rows = torch.arange(len(path), device=path.device)[:, None]
        chosen = self.network.chosen({int(k): each[rows, path] for k, each in hidden.items()})
        return self.slots.forward(path.shape[1], 0, hidden=chosen)


def _turned(states: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """[B, heads, n, size] with rotary positions, from states [B, n, heads, size]."""
    states, (cos, sin) = states.transpose(1, 2), (each[:, None] for each in turn)
    return (states * cos + rotate_half(states) * sin).to(states)
