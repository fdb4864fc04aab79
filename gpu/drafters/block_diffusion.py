"""Drafting a block of tokens in one pass (DFlash, chen2026dflash): the network, its drafter, and saved ones:
ours, and those of z-lab, SpecForge and speculators.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import Qwen3Config
from transformers.cache_utils import Cache
from transformers.models.qwen3 import modeling_qwen3 as qwen3

from draftproof.gpu.drafters.drafter import Drafter, HiddenSession
from draftproof.gpu.drafters.published import Layout, config_of, fill, settings, weights
from draftproof.gpu.network.models import Model, shut
from draftproof.gpu.network.reader import Reader
from draftproof.gpu.network.session import Draft, Level, Structure
from draftproof.gpu.sampling.history import History
from draftproof.gpu.sampling.rows import Sampling
from draftproof.theory.errors import BadInput


@dataclass(frozen=True)
class Variant:
    """What a block drafter has beside DFlash's parts (DSpark, dspark2026throughput). `markov`: rank of a bias
    W2 W1[x] on the token after x, 0 for none; `confidence`: a head that predicts sum min(p, q) of each row.
    """

    markov: int = 0
    confidence: bool = False


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
        config.head_dim = config.head_dim or hidden // config.num_attention_heads
        self.config, self.block, self.sources, self.variant, self.mask = config, block, layers, variant, mask
        self.fc = nn.Linear(len(layers) * hidden, hidden, bias=False)
        self.hidden_norm, self.norm = (qwen3.Qwen3RMSNorm(hidden, config.rms_norm_eps) for _ in range(2))
        every = range(config.num_hidden_layers)
        self.layers = nn.ModuleList(qwen3.Qwen3DecoderLayer(config, k) for k in every)
        self.rotary_emb = qwen3.Qwen3RotaryEmbedding(config)
        if mask is None:
            self.mask_embedding = nn.Parameter(0.02 * torch.randn(hidden))
        if rank := variant.markov:
            first, second = nn.Embedding(config.vocab_size, rank), nn.Linear(rank, config.vocab_size, False)
            nn.init.zeros_(second.weight)
            self.markov_head: Any = nn.ModuleDict({"markov_w1": first, "markov_w2": second})
        if variant.confidence:
            self.confidence_head: Any = nn.ModuleDict({"proj": nn.Linear(hidden + rank, 1)})

    def fused(self, hidden_states: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
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
        states = hidden if embedded is None else embedded
        assert states is not None
        turn = self.rotary_emb(states, position_ids)
        if embedded is None:
            states = self.hidden_norm(self.fc(states))
            for layer in self.layers:
                _keep(layer.self_attn, states, turn, past_key_values)
            return states
        for layer in self.layers:
            states = layer(
                states,
                attention_mask=attention_mask,
                past_key_values=past_key_values,
                position_embeddings=turn,
            )
        return self.norm(states)

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


class BlockSession(HiddenSession):
    """The reader keeps the context's keys and values; a block is written behind them and then overwritten.
    `last` [B, 1] are the anchors, `states` [B, block - 1, H] and `rows` [B, block - 1, V] those of the masks.
    """

    states: Tensor
    rows: Tensor

    def __init__(
        self, drafter: "BlockDrafter", prompts: Sequence[Sequence[int]], capacity: int, hidden: Any
    ) -> None:
        network, self.target, device = drafter.network, drafter.target, drafter.target.device
        slots = Reader.of(network, len(prompts), capacity + network.block, drafter.target.context)
        super().__init__(slots, network, tuple(layer + 1 for layer in network.sources))
        self.network, self.block, whole = network, network.block, drafter.target.network
        self.embed, self.output = whole.get_input_embeddings(), whole.get_output_embeddings()
        if hidden is not None:
            self.reader.prefill([prompt[:-1] for prompt in prompts], hidden=network.fused(hidden))
        self.last = torch.tensor([prompt[-1:] for prompt in prompts], device=device)
        self.sees = functional.pad(
            torch.ones(1, network.block, network.block + 1, dtype=torch.bool, device=device), (0, 1)
        )
        self.levels = torch.arange(network.block, device=device)[None]

    def root(self) -> Tensor:
        embedded = self.network.opening(self.last[:, 0], self.embed)
        output = self.reader.forward(self.network.block, 0, self.sees, self.levels, embedded=embedded)
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

    def read(self, feature: Tensor, ids: Tensor, last: Tensor) -> Tensor:
        """Keeps the context of the accepted path; the anchors are the last tokens."""
        self.reader.forward(ids.shape[1], 0, hidden=feature)
        return ids.gather(1, last[:, None])


class BlockDrafter(Drafter):
    """Drafts with a block network: without a Markov head all nodes of one depth have the same row. It is not
    stateless, since its rows depend on where the last step stopped.
    """

    reads_hidden, session = True, BlockSession

    def __init__(self, network: BlockNetwork, target: Model, name: str = "block") -> None:
        self.network, self.target, self.name = network, target, name
        self.deepest = network.block - 1
        self.by_depth = not network.variant.markov


def _keep(layer: Any, states: Tensor, turn: tuple[Tensor, Tensor], cache: Cache) -> None:
    """Writes an attention's keys and values of states [B, n, H] to the cache."""
    heads = *states.shape[:-1], -1, layer.head_dim
    keys = layer.k_norm(layer.k_proj(states).view(heads)).transpose(1, 2)
    values = layer.v_proj(states).view(heads).transpose(1, 2)
    cache.update(qwen3.apply_rotary_pos_emb(keys, keys, *turn)[1], values, layer.layer_idx)


LAYOUT: Layout = (
    ("logit_head.markov_head.", "markov_head."),
    ("logit_head.confidence_head.", "confidence_head."),
)
"""Early DSpark checkpoints have their heads one level deeper; all other keys are parameters' own names."""
OF_TARGET = "embed_tokens.", "lm_head.", "verifier_", "rotary_emb."
"""Keys of weights that are the target's, and of tables that are computed."""
SHARED = "d2t", "t2d"


def load_block(folder: Path, target: Any) -> BlockNetwork:
    """The DFlash drafter in a folder, of which DSpark's with a plain Markov head is a variant; BadInput if
    keys are missing or unknown, or if the drafter does not fit the target. Without a `mask_token_id` the
    checkpoint has an embedding for masks, as that of the pair has.
    """
    about = config_of(folder)
    how, text = about.get("dflash_config") or {}, target.config.get_text_config(decoder=True)
    confident = how.get("enable_confidence_head", (how.get("confidence_head_alpha") or 0) > 0)
    variant = Variant(markov=how.get("markov_rank") or 0, confidence=bool(confident))
    if "speculators_model_type" in about:
        (inner, states) = settings(about, ["transformer_layer_config", "aux_hidden_state_layer_ids"], folder)
        block, mask = settings(about, ["block_size", "mask_token_id"], folder)
        sources = [state - 1 for state in states]  # hidden state k + 1 is the output of layer k
        if about.get("draft_vocab_size", inner.get("vocab_size")) != inner.get("vocab_size"):
            raise BadInput(f"{folder}: a vocabulary of its own (draft_vocab_size), which cannot be loaded")
        if about.get("sample_from_anchor"):
            raise BadInput(f"{folder}: sample_from_anchor is set, which cannot be loaded")
    else:
        inner = {key: each for key, each in about.items() if key not in ("dflash_config", "architectures")}
        block = about.get("block_size") or how.get("block_size")
        (block,) = settings({"block_size": block}, ["block_size"], folder)
        (sources,), mask = settings(how, ["target_layer_ids"], folder), how.get("mask_token_id")
    config = Qwen3Config(**{key: each for key, each in inner.items() if key != "model_type"})
    if "sliding_attention" in (config.layer_types or ()):
        raise BadInput(f"{folder}: sliding_attention layers cannot be loaded")
    if config.hidden_size != text.hidden_size:
        size = config.hidden_size
        raise BadInput(f"{folder}: made for a target of hidden size {size}, not {text.hidden_size}")
    if min(sources) < -1 or max(sources) >= text.num_hidden_layers:
        raise BadInput(f"{folder}: reads layers {[*sources]} of a target with {text.num_hidden_layers}")
    if (head := how.get("markov_head_type", "vanilla")) != "vanilla":
        raise BadInput(f"{folder}: markov_head_type {head}: vanilla can be loaded")
    config.vocab_size = target.get_output_embeddings().weight.shape[0]
    network = BlockNetwork(config, block, tuple(sources), variant, mask)
    return fill(network, target, weights(folder), LAYOUT, folder, (*OF_TARGET, *SHARED))
