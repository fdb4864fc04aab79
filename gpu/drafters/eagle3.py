"""Drafting from the target's hidden states with an EAGLE-3 head (li2025eagle3) or one that reads masks and
drafts in one pass (P-EAGLE), and published heads in the layouts of SafeAILab/EAGLE, SpecForge, DeepSpec, and
speculators.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoModel, LlamaConfig

from draftproof.gpu.drafters import published as saved
from draftproof.gpu.drafters.drafter import Drafter, HiddenSession
from draftproof.gpu.drafters.published import gemma, settings
from draftproof.gpu.network.models import Model, shut
from draftproof.gpu.network.reader import padded
from draftproof.gpu.network.session import Level
from draftproof.gpu.sampling.device import refused
from draftproof.gpu.verify.residual import pick
from draftproof.theory.errors import BadInput

EAGLE: saved.Layout = (("midlayer.", "decoder.layers.0."), ("norm.", "decoder.norm."))
SPECULATORS: saved.Layout = (("layers.", "decoder.layers."), ("norm.", "decoder.norm."))


class FeatureHead(nn.Module):
    """Predicts the next token from the last token and a feature of the position before it: if the target has
    read that position, its hidden states at the indices `layers`, fused; otherwise this head's own output.
    `traits`: which of the options the head was made with (see `TRAITS`).
    """

    lm_head: Any
    masks: Any = None

    def __init__(self, config: Any, layers: tuple[int, ...], traits: frozenset[str]) -> None:
        super().__init__()
        self.layers, self.traits = layers, traits
        size = config.vocab_size if "embed_tokens" in traits else 1
        config.vocab_size, config.pad_token_id, config._attn_implementation = size, None, "sdpa"
        self.config = config
        self.decoder: Any = AutoModel.from_config(config, dtype=torch.float32)
        if "embed_tokens" in traits:
            self.embed_tokens = self.decoder.embed_tokens
        self.decoder.embed_tokens = None

    def fused(self, hidden_states: Mapping[int, Tensor] | Sequence[Tensor]) -> Tensor:
        """The target's hidden states as one feature, [B, T, hidden]."""
        return self.mixed(torch.cat([hidden_states[layer] for layer in self.layers], dim=-1))

    def mixed(self, joined: Tensor) -> Tensor:
        """The feature of hidden states side by side."""
        return joined

    def forward(
        self,
        embedded: Tensor,
        feature: Tensor,
        attention_mask: Tensor | dict[str, Tensor],
        position_ids: Tensor,
        **options: Any,
    ) -> Tensor:
        """States [B, T, hidden], which are features of the next positions.

        `embedded` [B, T, hidden] are the embeddings of the tokens at `position_ids`, `feature` [B, T, hidden]
        belongs to the positions before them, `attention_mask` [B or 1, 1, T, keys] is true where a key is
        seen.
        """
        turn = self.decoder.rotary_emb(feature, position_ids, *["full_attention"] * gemma(self.config))
        options |= {"position_ids": position_ids, "position_embeddings": turn}
        options |= {"shared_kv_states": {}} if gemma(self.config) else {}
        kinds = getattr(self.config, "layer_types", None) or ["full_attention"] * len(self.decoder.layers)
        states = feature
        for number, (layer, kind) in enumerate(zip(self.decoder.layers, kinds, strict=True)):
            mask = attention_mask[kind] if isinstance(attention_mask, dict) else attention_mask
            given = options | {"attention_mask": mask}
            states = layer(states, **given) if number else self._first(layer, embedded, feature, given)
        return self.decoder.norm(states) if "norm_output" in self.traits else states

    def _first(self, layer: Any, embedded: Tensor, feature: Tensor, options: dict[str, Any]) -> Tensor:
        raise NotImplementedError

    def logits(self, states: Tensor) -> Tensor:
        """Logits [.., vocab] of these states."""
        return self.lm_head(states)


class Eagle3Head(FeatureHead):
    """The feature and the token's embedding go, each after a norm and side by side, into the attention of the
    first decoder layer, whose residual is the feature.

    `ids` [D] are the target's ids of the drafter's own vocabulary: all other tokens of the target's `vocab`
    get the logit -inf, so that its rows are rows over the target's vocabulary. `masks`: of a head that
    drafts in one pass (P-EAGLE), the token that stands for those not drafted yet, and how many tokens it
    drafts; `mask_hidden` are the hidden states before a mask.
    """

    ids: Tensor

    def __init__(
        self,
        config: Any,
        source: int,
        layers: tuple[int, ...],
        ids: Tensor,
        vocab: int,
        traits: frozenset[str],
        masks: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(config, layers, traits)
        hidden, eps = config.hidden_size, config.rms_norm_eps
        self.vocab, self.masks = vocab, masks
        if masks is not None:
            self.mask_hidden = nn.Parameter(torch.zeros(1, 1, source * len(layers)))
        first = self.decoder.layers[0]
        norm = type(first.input_layernorm)
        for name in ("q_proj", "k_proj", "v_proj"):
            if (made := getattr(first.self_attn, name)) is None:
                continue  # Gemma's values may be its keys
            wider = nn.Linear(2 * hidden, made.out_features, bias=made.bias is not None)
            setattr(first.self_attn, name, wider)
        first.hidden_norm = norm(hidden, eps)
        self.fc = nn.Linear(source * len(layers), hidden, bias=False)
        if "norm_before_fc" in traits:
            self.input_norm = norm(source * len(layers), eps)
        if "fc_norm" in traits:
            self.fc_norm = nn.ModuleList([norm(source, eps) for _ in layers])
        self.lm_head = nn.Linear(hidden, len(ids), bias=False)
        self.register_buffer("ids", ids, persistent=False)

    def mixed(self, joined: Tensor) -> Tensor:
        if "fc_norm" in self.traits:
            given = zip(self.fc_norm, joined.chunk(len(self.layers), -1), strict=True)
            joined = torch.cat([norm(each) for norm, each in given], dim=-1)
        return self.fc(self.input_norm(joined) if "norm_before_fc" in self.traits else joined)

    def _first(self, layer: Any, embedded: Tensor, feature: Tensor, options: dict[str, Any]) -> Tensor:
        normed = layer.hidden_norm(feature)
        joined = torch.cat((layer.input_layernorm(embedded), normed), dim=-1)
        attended, _ = layer.self_attn(hidden_states=joined, **options)
        if gemma(self.config):
            states = feature + layer.post_attention_layernorm(attended)
            fed = layer.mlp(layer.pre_feedforward_layernorm(states))
            return (states + layer.post_feedforward_layernorm(fed)) * layer.layer_scalar.to(states)
        states = (normed if "norm_before_residual" in self.traits else feature) + attended
        return states + layer.mlp(layer.post_attention_layernorm(states))

    def logits(self, states: Tensor) -> Tensor:
        if not self.traits & {"norm_output", "raw_output"}:
            states = self.decoder.norm(states)
        own = self.lm_head(states)
        if cap := getattr(self.config, "final_logit_softcapping", None):
            own = (own / cap).tanh() * cap
        return saved.widened(own, self.ids, self.vocab)


class FeatureSession(HiddenSession):
    """`last` [B, 1, H] is the head's output at the root, `above` its output at the previous level. Features
    of the text come from the target; those of drafted tokens come from the head and are overwritten later.
    """

    def __init__(
        self, drafter: "FeatureDrafter", prompts: Sequence[Sequence[int]], capacity: int, hidden: Any
    ) -> None:
        super().__init__(drafter.target, drafter.head, len(prompts), capacity, drafter.head.layers)
        self.embed = drafter.embed
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
        self.last = pick(output, torch.tensor([[len(prompt) - 1] for prompt in read], device=output.device))
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
        """Reads emitted tokens, each with the target's feature at the one before; the last ones' states."""
        output = self.reader.forward(ids.shape[1], 1, embedded=self.embed(ids), feature=feature)
        return pick(output, last[:, None])


class ParallelSession(FeatureSession):
    """Reads masks in place of the tokens after the root, all in one pass: `rows` [B, n, V] are those of the
    next n tokens, whichever are drafted before them.
    """

    rows: Tensor

    def __init__(
        self, drafter: "FeatureDrafter", prompts: Sequence[Sequence[int]], capacity: int, hidden: Any
    ) -> None:
        mask, tokens = drafter.head.masks
        self.count = max(1, tokens - 1)
        super().__init__(drafter, prompts, capacity + tokens, hidden)
        self.mask = self.embed(torch.tensor([[mask]], device=drafter.target.device))

    def root(self) -> Tensor:
        size = len(self.last), self.count, -1
        feature = self.head.mixed(self.head.mask_hidden).expand(size)
        states = self.reader.forward(self.count, 1, embedded=self.mask.expand(size), feature=feature)
        self.rows = self._logits(torch.cat((self.last, states), 1))
        return self.rows[:, 0]

    def extend(self, tokens: Tensor, level: Level) -> Tensor:
        return self.rows[:, level.depth, None].expand(-1, tokens.shape[1], -1)


class FeatureDrafter(Drafter):
    """Its rows depend on where the last step stopped."""

    reads_hidden = True

    def __init__(self, head: FeatureHead, target: Model, name: str = "eagle3") -> None:
        self.head, self.target, self.name = head, target, name
        self.session = FeatureSession if head.masks is None else ParallelSession
        self.deepest = head.masks and head.masks[1]
        self.embed = getattr(head, "embed_tokens", None) or target.network.get_input_embeddings()


TRAITS = "norm_before_residual", "norm_before_fc", "fc_norm", "norm_output"
"""Options of speculators' heads: the residual of the first layer is the feature after its norm; norms before
the fusion, of all hidden states together or of each; states go through the last norm before they are
features. SpecForge has `fc_norm`; with its `norm_output` false there is no last norm (`raw_output`)."""


def load_eagle3(folder: Path, target: Any, vocab: int) -> Eagle3Head:
    """The EAGLE-3 head in a folder, for a target with `vocab` outputs; BadInput if keys are missing or
    unknown, or if the head does not fit the target.
    """
    about, given = saved.config_of(folder), saved.weights(folder)
    text, depth = target.config.get_text_config(decoder=True), target.config.num_hidden_layers
    masks = None
    speculators, deep = about.get("speculators_model_type"), about.get("target_layer_ids")
    if speculators:
        (inner,) = settings(about, [saved.INNER], folder)
        layers = about.get("eagle_aux_hidden_state_layer_ids")
        traits = {name for name in TRAITS if about.get(name)}
        config = saved.decoder(inner, folder)
        if speculators == "peagle":
            mask, how = settings(about, ["mask_token_id", "speculators_config"], folder)
            with refused(f"{folder}: speculators_config tells no number of tokens"):
                tokens = int(how["proposal_methods"][0]["speculative_tokens"])
            embedded = len(given.get("embed_tokens.weight", ())) or len(target.get_input_embeddings().weight)
            masks = saved.mask_token(mask, embedded, folder), tokens
    elif deep:  # DeepSpec's
        layers, traits, config = [layer + 1 for layer in deep], set(), saved.decoder(about, folder)
    elif about.get("kv_lora_rank"):
        raise BadInput(f"{folder}: multi-head latent attention (kv_lora_rank) cannot be loaded")
    else:
        named = (about.get("eagle_config") or {}).get("eagle_aux_hidden_state_layer_ids")
        layers = named and [layer + 1 for layer in named]  # of layers whose outputs are read
        traits = {"fc_norm"} if about.get("fc_norm") else set()
        traits |= set() if about.get("norm_output", True) else {"raw_output"}
        settings(about, ["hidden_size", "num_attention_heads", "intermediate_size"], folder)
        config = LlamaConfig(**{k: v for k, v in about.items() if k != "model_type"})
        config.num_hidden_layers, config.attention_bias = 1, False
    source = about.get("target_hidden_size") or config.hidden_size
    saved.fits(source, text, folder)
    layers = tuple(layers or (2, depth // 2, depth - 3))
    if min(layers) < 0 or max(layers) > depth:
        raise BadInput(f"{folder}: reads hidden states {[*layers]} of a target with {depth} layers")
    if "embed_tokens.weight" in given:
        traits.add("embed_tokens")
        config.vocab_size = len(given["embed_tokens.weight"])
    elif config.hidden_size != text.hidden_size:
        raise BadInput(f"{folder}: the checkpoint lacks weights: embed_tokens.weight")
    if "lm_head.weight" not in given:
        raise BadInput(f"{folder}: the checkpoint lacks weights: lm_head.weight")
    ids = saved.identified(given, vocab, folder)
    head = Eagle3Head(config, source, layers, ids, vocab, frozenset(traits), masks)
    return saved.fill(
        head, target, given, SPECULATORS if speculators or deep else EAGLE, folder, saved.SHARED
    )
