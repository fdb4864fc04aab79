"""Drafting a block of tokens in one pass (DFlash, chen2026dflash): the network and its drafter. Saved ones
are read by `drafters.block_layouts`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.cache_utils import Cache
from transformers.models.qwen3 import modeling_qwen3 as qwen3

from draftproof.gpu.drafters.dflash2 import CandidateSelector, ConvolvedLayer
from draftproof.gpu.drafters.drafter import Drafter, HiddenSession
from draftproof.gpu.drafters.markov import MarkovHead, RefinerHead
from draftproof.gpu.drafters.published import family, gemma, widened
from draftproof.gpu.network.models import Model, shut
from draftproof.gpu.network.reader import Within
from draftproof.gpu.network.session import Draft, Level, Structure
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling


@dataclass(frozen=True)
class Variant:
    """In what a block drafter differs from DFlash's first.

    `markov`: rank of a bias by the tokens before a row, 0 for none, and `head` its kind, as in `MarkovHead`;
    `confidence`: a head that predicts sum min(p, q) of each row, which reads W1[x] too if `joined` (both:
    DSpark, dspark2026throughput).
    `first`: the place of the block whose row is that of the next token, 0 for the anchor's own. `conv`: taps
    and group size, `selector`: rank and candidates of DFlash 2. Embeddings are multiplied by `scale`, logits
    by `multiplier` and then bounded by `cap`. `causal`: whether a place sees those after it in its block; by
    default it does but in layers with a window, which count from the anchor if `anchored`.
    `refiner`: size of the feed-forward of XPress's head, which is there instead of a Markov head if not 0.
    """

    markov: int = 0
    confidence: bool = False
    joined: bool = True
    first: int = 1
    conv: tuple[int, int] | None = None
    selector: tuple[int, int] | None = None
    scale: float = 1.0
    multiplier: float = 1.0
    cap: float | None = None
    causal: bool | None = None
    anchored: bool = False
    head: str = "vanilla"
    refiner: int = 0


class BlockNetwork(nn.Module):
    """A block is an anchor, the text's last token, and masks, each for one of the tokens after it.

    Context are the target's hidden states, after the layers `layers` (0 is the first), of the tokens before
    the anchor. Parameters have the names of DFlash's published checkpoints. Embeddings and output head are
    the target's, if the checkpoint has none of its own (`own`); with `ids`, the head's rows are those of
    these tokens of the target. `mask_embedding` is there if no token of the target's serves as the mask.
    """

    ids: Tensor | None

    def __init__(
        self,
        config: Any,
        block: int,
        layers: tuple[int, ...],
        variant: Variant | None = None,
        mask: int | None = None,
        own: Mapping[str, int] | None = None,
        ids: Tensor | None = None,
    ) -> None:
        super().__init__()
        config._attn_implementation = "sdpa"
        variant, hidden, own = variant or Variant(), config.hidden_size, own or {}
        self.config, self.block, self.sources, self.variant, self.mask = config, block, layers, variant, mask
        made, norm, turns = family(config)
        self.fc = nn.Linear(len(layers) * hidden, hidden, bias=False)
        self.hidden_norm, self.norm = (norm(hidden, config.rms_norm_eps) for _ in range(2))
        made = (
            made
            if variant.conv is None
            else partial(ConvolvedLayer, taps=variant.conv[0], group=variant.conv[1])
        )
        self.layers = nn.ModuleList(made(config, k) for k in range(config.num_hidden_layers))
        self.rotary_emb = turns(config)
        self.register_buffer("ids", ids, persistent=False)
        if mask is None:
            self.mask_embedding = nn.Parameter(0.02 * torch.randn(hidden))
        if size := own.get("embed_tokens"):
            self.embed_tokens: Any = nn.Embedding(size, hidden)
        if size := own.get("lm_head"):
            self.lm_head: Any = nn.Linear(hidden, size, bias=False)
        vocab: int = config.vocab_size
        if rank := variant.markov:
            drafted = own.get("lm_head", vocab)
            if inner := variant.refiner:
                self.refiner_head: Any = RefinerHead(block, vocab, hidden, rank, inner, drafted)
            else:
                self.markov_head: Any = MarkovHead(variant.head, vocab, hidden, rank, drafted)
        if variant.confidence:
            self.confidence_head: Any = nn.ModuleDict({"proj": nn.Linear(hidden + rank * variant.joined, 1)})
        if variant.selector is not None:
            self.candidate_selector = CandidateSelector(hidden, vocab, *variant.selector)

    @property
    def reach(self) -> dict[str, Within | None]:
        """How far each kind of layer sees, as in `reader.reach`."""
        made: dict[str, Within | None] = {}
        for kind in sorted(set(getattr(self.config, "layer_types", None) or ["full_attention"])):
            window = self.config.sliding_window if kind == "sliding_attention" else None
            causal = window is not None if self.variant.causal is None else self.variant.causal
            seen = partial(_seen, window=window, causal=causal, anchored=self.variant.anchored)
            made[kind] = seen if window is not None or causal else None
        return made

    def fused(self, hidden_states: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
        """The hidden states [B, T, H] after the layers that are read, side by side."""
        return torch.cat([hidden_states[layer + 1] for layer in self.sources], dim=-1)

    def opening(self, anchors: Tensor, embed: Any) -> Tensor:
        """The inputs [.., block, H] of blocks with these anchors; `embed` has the target's embeddings."""
        table = getattr(self, "embed_tokens", embed).weight
        mask = self.mask_embedding if self.mask is None else table[self.mask] * self.variant.scale
        first = (functional.embedding(anchors, table) * self.variant.scale)[..., None, :]
        rest = mask.to(first).expand(*anchors.shape, self.block - 1, -1)
        return torch.cat((first, rest), -2)

    def forward(
        self,
        embedded: Tensor | None = None,
        hidden: Tensor | None = None,
        *,
        position_ids: Tensor,
        past_key_values: Cache,
        attention_mask: Any = None,
        **_: Any,
    ) -> Tensor:
        """Hidden states of the blocks `embedded` [B, n, H], ready for the target's output head. If `hidden`
        [B, T, m H] is given instead, only keeps its keys and values, for the blocks that come later.
        """
        states = hidden if embedded is None else embedded
        assert states is not None
        turn = self.rotary_emb(states, position_ids, *["full_attention"] * gemma(self.config))
        if embedded is None:
            states = self.hidden_norm(self.fc(states))
            for layer in self.layers:
                _keep(layer.self_attn, states, turn, past_key_values)
            return states
        given = {"past_key_values": past_key_values, "position_embeddings": turn}
        given |= {"shared_kv_states": {}} if gemma(self.config) else {}
        for number, layer in enumerate(self.layers):
            mask = attention_mask
            if isinstance(mask, dict):
                mask = mask[self.config.layer_types[number]]
            states = layer(states, attention_mask=mask, **given)
        return self.norm(states)

    def logits(self, states: Tensor, head: Any) -> Tensor:
        """Logits [.., D] of states [.., H]; `head` is the target's output head."""
        made = getattr(self, "lm_head", head)(states)
        if self.variant.multiplier != 1:
            made = made * self.variant.multiplier
        return made if (cap := self.variant.cap) is None else (made / cap).tanh() * cap

    def opened(self, states: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
        """(states [B, n, ..], memory [B, 1, ..]) of the rows, as `after` reads them, from the states
        [B, block, H] of a block; `last` [B, 2] are the tokens before the anchors, and the anchors.
        """
        first, size = self.variant.first, self.variant.markov
        if not self.variant.refiner:
            return states[:, first:], states.new_zeros(len(states), 1, size)
        memory = states.new_zeros(len(states), 1, self.block * size)
        states = self.refiner_head.seen(states)
        if first:
            _, memory = self.refiner_head(states[:, :1], last[:, :1], memory)
        return states[:, first:], memory

    def after(self, logits: Tensor, states: Tensor, before: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(rows [B, m, D], memory) after the tokens `before` [B, m], from logits [B, D] and states [B, H];
        memory [B, m, r] as in `MarkovHead` or `RefinerHead`.
        """
        if self.variant.selector is not None:
            return self.candidate_selector(logits, states, before), memory
        logits, states = (each[:, None].expand(-1, before.shape[1], -1) for each in (logits, states))
        if not self.variant.markov:
            return logits, memory
        head = self.refiner_head if self.variant.refiner else self.markov_head
        bias, memory = head(states, before, memory)
        return logits + bias, memory

    def confidence(self, states: Tensor, before: Tensor) -> Tensor:
        """The logit [..] of sum min(p, q), from the states [.., H] of masks and the tokens before them."""
        if self.variant.markov and self.variant.joined:
            states = torch.cat((states, self.markov_head.markov_w1(before)), -1)
        return self.confidence_head.proj(states)[..., 0]


class BlockSession(HiddenSession):
    """The reader keeps the context's keys and values; a block is written behind them and then overwritten.
    `last` [B, 2] are the tokens before the anchors, and the anchors; `states` [B, n, H] and `rows` [B, n, D]
    those of the tokens after them, `memory` [B, m, r] that of a Markov head on the paths of the last level.
    """

    states: Tensor
    rows: Tensor
    memory: Tensor

    def __init__(
        self, drafter: "BlockDrafter", prompts: Sequence[Sequence[int]], capacity: int, hidden: Any
    ) -> None:
        network, whole, device = drafter.network, drafter.target.network, drafter.target.device
        layers = tuple(layer + 1 for layer in network.sources)
        super().__init__(drafter.target, network, len(prompts), capacity + network.block, layers)
        self.network = network
        self.embed, self.output = whole.get_input_embeddings(), whole.get_output_embeddings()
        if hidden is not None:
            self.reader.prefill([prompt[:-1] for prompt in prompts], hidden=network.fused(hidden))
        self.last = torch.tensor([[prompt[-2:][0], prompt[-1]] for prompt in prompts], device=device)
        self.sees = functional.pad(
            torch.ones(1, network.block, network.block + 1, dtype=torch.bool, device=device), (0, 1)
        )
        self.levels = torch.arange(network.block, device=device)[None]

    def root(self) -> Tensor:
        embedded = self.network.opening(self.last[:, 1], self.embed)
        output = self.reader.forward(self.network.block, 0, self.sees, self.levels, embedded=embedded)
        self.rows = self.network.logits(output[:, self.network.variant.first :], self.output)
        self.states, self.memory = self.network.opened(output, self.last)
        return self._after(self.last[:, 1:], 0)[:, 0]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        at = level.above[..., None].expand(len(tokens), -1, self.memory.shape[-1])
        self.memory = self.memory.gather(1, at)
        return self._after(tokens, level.depth)

    def _after(self, tokens: Tensor, depth: int) -> Tensor:
        given = self.rows[:, depth], self.states[:, depth], tokens, self.memory
        rows, self.memory = self.network.after(*given)
        return self._shut(rows)

    def _shut(self, rows: Tensor) -> Tensor:
        known, vocab = self.target.known, self.target.vocab
        return shut(
            rows if self.network.ids is None else widened(rows, self.network.ids, vocab), known, vocab
        )

    def draft(
        self, structure: Structure, sampling: Sampling, uniforms: Tensor, history: History | None = None
    ) -> Draft:
        """Chains have the confidence of each row, if the network has a head for it."""
        draft = super().draft(structure, sampling, uniforms, history)
        if not self.network.variant.confidence or not draft.tree.is_chain:
            return draft
        before = torch.cat((self.last[:, 1:], draft.tokens.clamp(min=0)), 1)[:, :-1]
        logits = self.network.confidence(self.states[:, : before.shape[1]], before)
        return replace(draft, confidence=logits.float().sigmoid())

    def read(self, feature: Tensor, ids: Tensor, last: Tensor) -> Tensor:
        """Keeps the context of the accepted path; the anchors are the last tokens."""
        self.reader.forward(ids.shape[1], 0, hidden=feature)
        places = last[:, None] + torch.arange(1, 3, device=ids.device)
        return torch.cat((self.last, ids), 1).gather(1, places)


class BlockDrafter(Drafter):
    """Drafts with a block network: without a Markov head or a selector all nodes of one depth have the same
    row. Its rows depend on where the last step stopped.
    """

    reads_hidden, session = True, BlockSession

    def __init__(self, network: BlockNetwork, target: Model, name: str = "block") -> None:
        self.network, self.target, self.name = network, target, name
        self.deepest = network.block - network.variant.first


def _keep(layer: Any, states: Tensor, turn: tuple[Tensor, Tensor], cache: Cache) -> None:
    """Writes an attention's keys and values of states [B, n, H] to the cache."""
    heads = *states.shape[:-1], -1, layer.head_dim
    keys = layer.k_proj(states).view(heads)
    values = keys if layer.v_proj is None else layer.v_proj(states).view(heads)
    if hasattr(layer, "v_norm"):
        values = layer.v_norm(values)
    keys = layer.k_norm(keys).transpose(1, 2)
    cache.update(qwen3.apply_rotary_pos_emb(keys, keys, *turn)[1], values.transpose(1, 2), layer.layer_idx)


def _seen(query: Tensor, key: Tensor, window: int | None, causal: bool, anchored: bool) -> Tensor:
    """Whether the places of a block see others; `query` [B, n, 1] begins with the anchor's position."""
    if window is None:
        return key <= query
    near = key >= query[:, :1] - window if anchored else (query - key).abs() < window
    return near & (key <= query) if causal else near.expand(torch.broadcast_shapes(query.shape, key.shape))
