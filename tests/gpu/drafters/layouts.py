"""Published layouts of drafters, with logits of the reference implementations on random weights.

    python -m tests.gpu.drafters.layouts            # runs the references beside ours; largest differences
    python -m tests.gpu.drafters.layouts --write    # and renews layouts.json, which the tests read

The references are not part of this project. `DRAFTPROOF_PEERS` names a folder with checkouts of
SafeAILab/EAGLE, sgl-project/SpecForge and deepseek-ai/DeepSpec; z-lab's `dflash` and `speculators` are
imported if they are installed.
Weights are drawn from the keys alone, so that layouts.json has keys and shapes in place of weights.
"""

import argparse
import importlib
import json
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace
from unittest import mock
from zlib import crc32

import numpy as np
import pytest
import torch
from torch.nn import functional
from transformers import DynamicCache, Gemma4ForCausalLM, Gemma4TextConfig, Qwen3Config, Qwen3ForCausalLM

from draftproof.gpu.drafters import choose
from draftproof.gpu.network.models import Model
from tests.gpu.drafters import reference as ref
from tests.gpu.small import Numbers

FILE = Path(__file__).with_name("layouts.json")
KNOWN, TEXT = 7, [*ref.TEXT, 4, 31, 2, 19, 6, 11]
VOCAB, MASK, IDS = ref.VOCAB, 11, ref.IDS
SIZES = ref.SIZES | {"head_dim": 16, "initializer_range": 0.02, "attention_bias": False}
WINDOW = 5


GLOBAL = {"global_head_dim": 16, "num_global_key_value_heads": 1}
"""Settings of Gemma 4 that transformers has no attributes for any more."""


def filled(key: str, shape) -> torch.Tensor:
    """The weight of this key."""
    drawn = np.random.default_rng(crc32(key.removesuffix(".weight").encode())).standard_normal(shape)
    if (
        "norm" in key or "layer_scalar" in key
    ):  # Gemma 4 does not divide its attention by the root of its size
        return torch.from_numpy((0.5 if "k_norm" in key else 1) + 0.1 * drawn).float()
    return torch.from_numpy(drawn / (1 if len(shape) < 2 else shape[-1] ** 0.5)).float()


def fill(module, shared=()):
    """The module with weights that depend on its keys only, and those of the target where they are shared."""
    state = module.state_dict()
    new = {key: filled(key, each.shape) if each.is_floating_point() else each for key, each in state.items()}
    module.load_state_dict(new | dict(shared))
    return module.eval().requires_grad_(False)


def sizes(kind: str) -> dict:
    """The configuration of the target."""
    given = SIZES | {
        "num_hidden_layers": ref.DEPTH,
        "pad_token_id": None,
        "eos_token_id": 0,
        "bos_token_id": 0,
    }
    if kind == "gemma4":
        given |= GLOBAL | {"head_dim": 8, "attention_k_eq_v": True, "vocab_size_per_layer_input": VOCAB}
        given |= {"hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0, "enable_moe_block": False}
        given |= {"final_logit_softcapping": 3.0, "sliding_window": 6, "use_double_wide_mlp": False}
        given |= {"layer_types": ["sliding_attention", "full_attention"] * (ref.DEPTH // 2)}
    return given


@cache
def target(kind: str) -> Model:
    """Eight layers of Qwen3 or Gemma 4."""
    made, config = {
        "qwen3": (Qwen3ForCausalLM, Qwen3Config),
        "gemma4": (Gemma4ForCausalLM, Gemma4TextConfig),
    }[kind]
    return Model(kind, fill(made(config(**sizes(kind)))), Numbers(), VOCAB, 96)


def tables(of: Model) -> dict[str, torch.Tensor]:
    """The target's embeddings and output head, as some checkpoints have them."""
    modules = {
        "embed_tokens": of.network.get_input_embeddings(),
        "lm_head": of.network.get_output_embeddings(),
    }
    return {f"{name}.weight": each.weight for name, each in modules.items()}


def features(of: Model, layers) -> torch.Tensor:
    """Hidden states side by side, [1, T, m H]."""
    every = ref.states(of, TEXT)
    return torch.cat([every[layer] for layer in layers], -1)


def positions(first: int) -> torch.Tensor:
    """The places of a block whose anchor is the last known token, and of all before it."""
    return torch.arange(KNOWN - 1 + first)[None]


def previous() -> torch.Tensor:
    """The tokens before the four rows."""
    return torch.tensor([TEXT[KNOWN - 1 : KNOWN + 3]])


class Arguments(SimpleNamespace):
    """Settings of a training run, as DeepSpec reads them."""

    def __contains__(self, name: str) -> bool:
        return hasattr(self, name)


def deepspec(kind: str, algorithm: str, name: str, given):
    """(target, network, config.json) of one of DeepSpec's drafters."""
    modeling = f"deepspec.modeling.{algorithm}.{kind}.modeling"
    modeling = ref.imported(ref.checkout("DeepSpec"), modeling)
    build = importlib.import_module(f"deepspec.modeling.{algorithm}.{kind}.config")
    of = target(kind)
    config = of.network.config
    if kind == "gemma4":  # DeepSpec reads the attributes that its version of transformers has
        plain = SimpleNamespace(**of.network.config.to_dict() | sizes(kind) | GLOBAL)
        config = SimpleNamespace(model_type="gemma4", text_config=plain)
    about = build.build_draft_config(target_config=config, model_args=Arguments(**given))
    about = about.to_dict() if kind == "qwen3" else dict(vars(about))
    about = {
        key: each for key, each in about.items() if key not in ("per_layer_config", "_attn_implementation")
    }
    config = type(of.network.config)(**about)
    if kind == "gemma4":
        for key, each in GLOBAL.items():
            setattr(config, key, each)
        turns = modeling.Gemma4TextRotaryEmbedding  # which takes no kind of layer any more
        modeling.Gemma4TextRotaryEmbedding = lambda config, layer_type: turns(config)
    config._attn_implementation = "sdpa"
    net = fill(getattr(modeling, name)(config), tables(of).items())
    if kind == "gemma4":
        modeling.Gemma4TextRotaryEmbedding = turns
    return of, net, about


def deepspec_block(kind: str, head: str | None):
    """(target, config.json, weights, logits, confidence) of DeepSpec's DSpark with a kind of Markov head, or
    DFlash without one.
    """
    heads = head is not None
    name = {"qwen3": "Qwen3DSparkModel", "gemma4": "Gemma4DSparkModel"}[kind]
    given = {"num_draft_layers": 2, "target_layer_ids": [1, 3, 6], "block_size": 4, "mask_token_id": MASK}
    given |= {"num_anchors": 2, "confidence_head_alpha": float(heads), "markov_rank": 3 * heads}
    given |= {"confidence_head_with_markov": True, "markov_head_type": head} if heads else {}
    of, net, about = deepspec(kind, "dspark", name, given)
    ids = torch.tensor([[TEXT[KNOWN - 1], MASK, MASK, MASK]])
    states = net._forward_backbone(
        position_ids=positions(4),
        noise_embedding=net.embed_tokens(ids),
        target_hidden_states=features(of, [2, 4, 7])[:, : KNOWN - 1],
        is_causal=False,
    )
    logits, chance = net.compute_logits(states), None
    if heads:
        made = net.markov_head.apply_block_logits(
            logits[None], token_ids=previous()[None], hidden_states=states[None]
        )
        logits = made[0]
        chance = net.predict_confidence_step(states, prev_token_ids=previous())[0]
    return of, about, net.state_dict(), logits[0], chance


def deepspec_eagle3(kind: str):
    """The same of DeepSpec's EAGLE-3."""
    given = {"target_layer_ids": [0, 1, 3, 5, 6], "ttt_length": 3, "step_loss_decay": 0.8}
    given |= {"draft_num_hidden_layers": 1, "target_model_name_or_path": "target"}
    name = {"qwen3": "Qwen3Eagle3Model", "gemma4": "Gemma4Eagle3Model"}[kind]
    of, net, about = deepspec(kind, "eagle3", name, given)
    kept, ids = DynamicCache(), torch.tensor([TEXT])
    state = net.extend_draft_cache(
        hidden_states=features(of, [1, 2, 4, 6, 7])[:, : KNOWN - 1],
        input_ids=ids[:, 1:KNOWN],
        position_ids=torch.arange(KNOWN - 1)[None],
        past_key_values=kept,
    )
    found = [net.compute_logits(state)]
    for place in range(KNOWN, KNOWN + 3):
        where = torch.tensor([[place - 1]])
        word = ids[:, place : place + 1]
        state = net(
            hidden_states=state, input_ids=word, position_ids=where, past_key_values=kept, use_cache=True
        )
        found.append(net.compute_logits(state))
    return of, about, net.state_dict(), torch.cat(found, 1)[0], None


def dflash(changes, how, second=False):
    """The same of z-lab's DFlash, or DFlash 2."""
    room = importlib.import_module("dflash.model")
    of = target("qwen3")
    about = SIZES | {"num_hidden_layers": 2, "num_target_layers": ref.DEPTH, "model_type": "qwen3"} | changes
    about |= {"dflash_config": {"target_layer_ids": [1, 3, 6], "mask_token_id": MASK} | how}
    about["architectures"] = [f"DFlash{'2' * second}DraftModel"]
    config = Qwen3Config(**{key: each for key, each in about.items() if key != "model_type"})
    net = fill(getattr(room, about["architectures"][0])(config))
    ids = torch.tensor([[TEXT[KNOWN - 1], MASK, MASK, MASK, MASK]])
    states = net(
        position_ids=positions(5),
        noise_embedding=room._raw_input_embeddings(of.network, ids, how.get("input_embedding_scale", 1.0)),
        target_hidden=features(of, [2, 4, 7])[:, : KNOWN - 1],
    )[:, 1:]
    logits, weights = net.compute_logits(states, of.network.lm_head), net.state_dict()
    if second:  # `select` draws; these are the rows that it draws from if the path is the text
        found, chosen = [], net.candidate_selector
        for k in range(4):
            with mock.patch.object(room, "_sample_probs", lambda q: q.argmax(-1)):
                path = chosen.select(states[:, k : k + 1], logits[:, k : k + 1], previous()[:, k], 1.0)
            row = torch.full((VOCAB,), -torch.inf)
            row[path[1][0, 0]] = path[2][0, 0].log()
            found.append(row)
        logits = torch.stack(found)[None]
        weights = {key.replace("codebook.weight", "codebook"): each for key, each in weights.items()}
    return of, about, weights, logits[0], None


def speculators_block(kind: str, layer, changes):
    """The same of speculators' DFlash, DFlash 2, DSpark and XPress; the anchor alone has a loss."""
    room = importlib.import_module(f"speculators.models.{kind}")
    name = {"dflash": "DFlash", "dflash2": "DFlash2", "dspark": "DSpark", "xpress": "XPress"}[kind]
    of = target("qwen3")
    layer = SIZES | {"num_hidden_layers": 2, "model_type": "qwen3"} | layer
    about = {
        "transformer_layer_config": layer,
        "draft_vocab_size": VOCAB,
        "block_size": 5,
        "mask_token_id": MASK,
    }
    about |= {"aux_hidden_state_layer_ids": [2, 4, 7], "speculators_model_type": kind} | changes
    config = getattr(room, f"{name}SpeculatorConfig")(**about)
    config.transformer_layer_config._attn_implementation = "eager"
    net = getattr(room, f"{name}DraftModel")(config)
    shared = tables(of)
    if about["draft_vocab_size"] != VOCAB:
        shared["lm_head.weight"] = shared["lm_head.weight"][IDS]
        shared |= dict(zip(("d2t", "t2d"), ref.maps(), strict=True))
    fill(net, shared.items())
    loss = torch.zeros(1, len(TEXT), dtype=torch.long)
    loss[0, KNOWN - 1] = 1
    zeros = torch.zeros_like(loss)
    hidden, logits, *_ = net._backbone_forward(
        features(of, [2, 4, 7]), torch.tensor([TEXT]), loss, features(of, [8]), zeros, max_anchors=1
    )
    first = 0 if net.config.sample_from_anchor else 1
    if kind == "xpress":
        words = TEXT[KNOWN - 1 - first :][:5]
        logits = logits + net.refiner_head.block_bias(torch.tensor([words]), hidden_states=hidden)
    logits, hidden = (each[:, first : first + 4] for each in (logits, hidden))
    chance = None
    if kind == "dspark":
        words = net.markov_head.prev_embeddings(previous())
        logits = logits + net.markov_head.block_bias(
            prev_token_ids=previous(), hidden_states=hidden, prev_emb=words
        )
        chance = net.confidence_head(torch.cat((hidden, words), -1))[0]
    if kind == "dflash2":
        ids, scores = net.candidate_selector.select(logits, hidden, previous())
        logits = torch.full_like(logits, -torch.inf).scatter(-1, ids, scores)
    if about["draft_vocab_size"] != VOCAB:
        logits = ref.wide(logits)
    kept = {key: each for key, each in net.state_dict().items() if key not in net._keys_to_ignore_on_save}
    return of, about, kept, logits[0], chance


def speculators_eagle3(layer, changes):
    """The same of speculators' EAGLE-3."""
    room = importlib.import_module("speculators.models.eagle3")
    of = target("qwen3")
    layer = SIZES | {"num_hidden_layers": 2} | layer
    about = {"transformer_layer_config": layer, "draft_vocab_size": len(IDS), **changes}
    about |= {"eagle_aux_hidden_state_layer_ids": [1, 3, 8], "speculators_model_type": "eagle3"}
    config = room.Eagle3SpeculatorConfig(**about)
    config.transformer_layer_config._attn_implementation = "eager"
    net = room.Eagle3DraftModel(config)
    fill(net, zip(("d2t", "t2d"), ref.maps(), strict=True))
    found = []
    net.lm_head.register_forward_hook(lambda *given: found.append(given[2][:, KNOWN - 2]))
    ids, hidden = torch.tensor([TEXT]), features(of, [1, 3, 8])[:, :-1]
    net(hidden, ids[:, 1:], torch.zeros(1, hidden.shape[1], dtype=torch.long), ttt_steps=4)
    kept = {key: each for key, each in net.state_dict().items() if key not in net._keys_to_ignore_on_save}
    return of, about, kept, ref.wide(torch.cat(found)), None


def proposals(kind: str, tokens: int) -> dict:
    """What speculators' configurations say of the tokens that are drafted."""
    how = {"proposal_type": "greedy", "speculative_tokens": tokens}
    how = {"algorithm": kind, "proposal_methods": [how], "default_proposal_method": "greedy"}
    return {"speculators_config": how | {"verifier": {"name_or_path": None, "architectures": []}}}


def speculators_parallel(layer, changes):
    """The same of speculators' P-EAGLE, with one block: its anchor is the last known token."""
    room = importlib.import_module("speculators.models.peagle")
    of = target("qwen3")
    layer = SIZES | {"num_hidden_layers": 2} | layer
    about = {"transformer_layer_config": layer, "draft_vocab_size": len(IDS), "mask_token_id": MASK}
    about |= {"eagle_aux_hidden_state_layer_ids": [1, 3, 8], **proposals("peagle", 4), **changes}
    config = room.PEagleSpeculatorConfig(**about)
    about = json.loads(config.to_json_string())
    config.transformer_layer_config._attn_implementation = "eager"
    net = room.PEagleDraftModel(config)
    shared = dict(zip(("d2t", "t2d"), ref.maps(), strict=True))
    fill(net, shared.items() if about["draft_vocab_size"] != VOCAB else ())
    found, size = [], len(TEXT) - 1
    net.lm_head.register_forward_hook(lambda *given: found.append(given[2][0]))
    anchors = torch.tensor([*range(size), *[KNOWN - 2] * 3])
    depths = torch.tensor([*[0] * size, 1, 2, 3])
    drawn = {"generate_cod_sample_indices": lambda **_: (anchors, depths)}
    drawn["compute_metrics"] = lambda **_: (None, {})  # losses are Triton's
    ids, zeros = torch.tensor([TEXT])[:, 1:], torch.zeros(1, size, dtype=torch.long)
    last = {"verifier_last_hidden_states": features(of, [8])[:, :-1]}
    with mock.patch.multiple(room.core, **drawn):
        net(features(of, [1, 3, 8])[:, :-1], ids, zeros, num_depths=4, **last)
    kept = {key: each for key, each in net.state_dict().items() if key not in net._keys_to_ignore_on_save}
    logits = found[0][[KNOWN - 2, size, size + 1, size + 2]]
    return of, about, kept, logits if len(logits[0]) == VOCAB else ref.wide(logits), None


HYBRID = {
    "layer_types": ["linear_attention", "linear_attention", "full_attention"],
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "rope_parameters": {"rope_type": "default", "rope_theta": 5e3, "partial_rotary_factor": 0.5},
}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
EXPERTS |= {"shared_expert_intermediate_size": 24}


def speculators_mtp(layer):
    """The same of speculators' MTP; further rows are those after two, three, ... known tokens. Its training
    gives every later step keys of its own, at the places of the first: here the layer reads later tokens at
    their own places, with a cache, as it is served.
    """
    room = importlib.import_module("speculators.models.mtp")
    of = target("qwen3")
    layer = SIZES | {"num_hidden_layers": 3} | layer
    config = room.MTPSpeculatorConfig(transformer_layer_config=layer, **proposals("mtp", 1))
    about = json.loads(config.to_json_string())
    net = fill(room.MTPDraftModel(config), tables(of).items())
    ids, hidden = torch.tensor([TEXT]), features(of, [ref.DEPTH])
    every = net(ids, hidden)[0][0][0]
    kept, found, state = DynamicCache(), [], hidden[:, : KNOWN - 1]
    net.mtp_layers[0].self_attn.layer_idx = 0  # of the cache
    for first, end in [(1, KNOWN), *((place, place + 1) for place in range(KNOWN, KNOWN + 3))]:
        where = torch.arange(first - 1, end - 1)[None]
        seen = (torch.arange(end - 1) <= where[..., None])[:, None]
        state = net.mtp_layers[0](
            hidden_states=state,
            token_embeddings=net.embed_tokens(ids[:, first:end]),
            attention_mask=seen,
            position_ids=where,
            position_embeddings=net.rotary_emb(state, where),
            past_key_values=kept,
        )[:, -1:]
        found.append(net.lm_head(state)[0])
    assert apart(found[0][0], every[KNOWN - 2]) < 1e-5
    kept = {key: each for key, each in net.state_dict().items() if key not in tables(of)}
    kept = {key: each for key, each in kept.items() if not key.startswith("verifier_")}
    return of, about, kept, torch.cat((*found, every)), None


def specforge_eagle3(changes):
    """The same of SpecForge's EAGLE-3."""
    module = ref.imported(ref.checkout("SpecForge"), "specforge.modeling.draft.llama3_eagle")
    of = target("qwen3")
    about = ref.EAGLE | {"architectures": ["LlamaForCausalLMEagle3"], **changes}
    about["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": [0, 3, 6]}
    config = module.LlamaConfig(**about)
    config.pretraining_tp = 1
    net = fill(module.LlamaForCausalLMEagle3(config), zip(("d2t", "t2d"), ref.maps(), strict=True))
    ids, state, kept, found = torch.tensor([TEXT]), features(of, [1, 4, 7])[:, :-1], [[], []], []
    state, size = net.project_hidden_states(state), len(TEXT) - 1
    mask = net.prepare_decoder_attention_mask(torch.ones(1, size, dtype=torch.bool), state, 1, size, 0)
    for step in range(4):
        shifted = functional.pad(ids[:, 1 + step :], (0, step))
        state = net.backbone(net.embed_input_ids(shifted), state, kept, mask, torch.arange(size)[None])
        found.append(net.compute_logits(state)[:, KNOWN - 2])
    return of, about, net.state_dict(), ref.wide(torch.cat(found)), None


def specforge_block(kind, how, changes=()):
    """The same of SpecForge's DFlash and DSpark."""
    module = ref.imported(ref.checkout("SpecForge"), f"specforge.modeling.draft.{kind}")
    found = getattr(module, {"dflash": "DFlashDraftModel", "dspark": "DSparkDraftModel"}[kind])
    of, masks = target("qwen3"), None
    how = {"target_layer_ids": [1, 3, 6], "mask_token_id": MASK, **how}
    about = SIZES | {"num_hidden_layers": 2, "block_size": 5, "dflash_config": how} | dict(changes)
    config = found.config_class(**about, num_target_layers=ref.DEPTH)
    config._attn_implementation = "sdpa"
    net = fill(found(config))
    if "sliding_window" in about:
        masks = ref.imported(ref.checkout("SpecForge"), "specforge.algorithms.common.dflash_family_model")
        masks = masks.create_dflash_sdpa_mask(
            torch.tensor([[KNOWN - 1]]), torch.ones(1, 1, dtype=torch.bool), KNOWN - 1, 5, "cpu", WINDOW
        )
    block = torch.tensor([[TEXT[KNOWN - 1], MASK, MASK, MASK, MASK]])
    states = net(
        position_ids=positions(5),
        noise_embedding=of.network.get_input_embeddings()(block),
        target_hidden=features(of, [2, 4, 7])[:, : KNOWN - 1],
        attention_mask=masks,
        is_causal=False,
    )[:, 1:]
    logits, chance = of.network.lm_head(states), None
    if kind == "dspark":
        logits = net.apply_logits_head(logits, prev_token_ids=previous(), hidden_states=states)
        chance = net.predict_confidence(states, prev_token_ids=previous())[0]
    return of, about | {"model_type": "qwen3"}, net.state_dict(), logits[0], chance


def eagle(changes):
    """The same of EAGLE's own model, whose embeddings are the target's."""
    module = ref.imported(ref.checkout("EAGLE"), "eagle.model.cnets")
    of = target("qwen3")
    config = type("Config", (), {"rope_scaling": None, "pretraining_tp": 1, **ref.EAGLE, **changes})
    net = fill(module.Model(config()), zip(("d2t", "t2d"), ref.maps(), strict=True))
    weights = {key: each for key, each in net.state_dict().items() if key != "embed_tokens.weight"}
    net.embed_tokens = of.network.get_input_embeddings()
    ids = torch.tensor([TEXT])
    net.reset()
    state, past = net(features(of, [2, 4, 5])[:, : KNOWN - 1], ids[:, 1:KNOWN], use_cache=True)
    found = [state[:, -1]]
    for place in range(KNOWN, KNOWN + 3):
        state, past = net(state[:, -1:], ids[:, place : place + 1], past_key_values=past, use_cache=True)
        found.append(state[:, -1])
    return of, ref.EAGLE | changes, weights, ref.wide(net.lm_head(net.norm(torch.cat(found)))), None


SLIDING = {
    "layer_types": ["full_attention", "sliding_attention"],
    "sliding_window": WINDOW,
    "use_sliding_window": True,
}
TWO = {"block_size": 5, "conv_kernel_size": 2, "conv_group_size": 8, "selector_rank": 6, "selector_top_k": 9}
HEADS = {"markov_rank": 4, "enable_confidence_head": True, "confidence_head_with_markov": True}
LAYOUTS: dict[str, Callable] = {
    "EAGLE": partial(eagle, {}),
    "SpecForge, EAGLE-3": partial(specforge_eagle3, {}),
    "SpecForge, EAGLE-3, norms": partial(specforge_eagle3, {"fc_norm": True, "head_dim": 16}),
    "SpecForge, EAGLE-3, raw": partial(specforge_eagle3, {"norm_output": False}),
    "SpecForge, DFlash": partial(specforge_block, "dflash", {}),
    "SpecForge, DFlash, window": partial(
        specforge_block, "dflash", {}, SLIDING | {"layer_types": ["sliding_attention"] * 2}
    ),
    "SpecForge, DSpark": partial(specforge_block, "dspark", HEADS),
    "SpecForge, DSpark, gated, confidence of states alone": partial(
        specforge_block,
        "dspark",
        {"markov_rank": 4, "markov_head_type": "gated", "enable_confidence_head": True},
    ),
    "SpecForge, DSpark, RNN, all heads": partial(
        specforge_block,
        "dspark",
        HEADS | {"markov_head_type": "RNN", "attention_mode": "mha"},
        {"num_key_value_heads": SIZES["num_attention_heads"]},
    ),
    "z-lab, DFlash": partial(dflash, {"block_size": 5}, {}),
    "z-lab, DFlash, window": partial(dflash, {"block_size": 5, **SLIDING}, {}),
    "z-lab, DFlash, window, whole blocks": partial(
        dflash, {"block_size": 5, "is_causal": False, **SLIDING}, {}
    ),
    "z-lab, DFlash 2": partial(
        dflash,
        {"is_causal": False, **SLIDING},
        TWO | {"output_multiplier": 0.7, "final_logit_softcapping": 2.0, "input_embedding_scale": 1.5},
        second=True,
    ),
    "DeepSpec, DSpark": partial(deepspec_block, "qwen3", "vanilla"),
    "DeepSpec, DSpark, gated": partial(deepspec_block, "qwen3", "gated"),
    "DeepSpec, DSpark, RNN": partial(deepspec_block, "qwen3", "rnn"),
    "DeepSpec, DFlash": partial(deepspec_block, "qwen3", None),
    "DeepSpec, EAGLE-3": partial(deepspec_eagle3, "qwen3"),
    "DeepSpec, DSpark, Gemma 4": partial(deepspec_block, "gemma4", "vanilla"),
    "DeepSpec, DSpark, Gemma 4, gated": partial(deepspec_block, "gemma4", "gated"),
    "DeepSpec, DSpark, Gemma 4, RNN": partial(deepspec_block, "gemma4", "rnn"),
    "DeepSpec, DFlash, Gemma 4": partial(deepspec_block, "gemma4", None),
    "DeepSpec, EAGLE-3, Gemma 4": partial(deepspec_eagle3, "gemma4"),
    "speculators, DFlash": partial(speculators_block, "dflash", {}, {}),
    "speculators, DFlash, own vocabulary": partial(
        speculators_block, "dflash", {}, {"draft_vocab_size": len(IDS)}
    ),
    "speculators, DFlash, window": partial(speculators_block, "dflash", SLIDING, {}),
    "speculators, DSpark": partial(speculators_block, "dspark", {}, {"markov_rank": 4}),
    "speculators, DSpark, own vocabulary": partial(
        speculators_block, "dspark", SLIDING, {"markov_rank": 4, "draft_vocab_size": len(IDS)}
    ),
    "speculators, DSpark, gated": partial(
        speculators_block, "dspark", {}, {"markov_rank": 4, "markov_head_type": "gated"}
    ),
    "speculators, DSpark, RNN, own vocabulary": partial(
        speculators_block,
        "dspark",
        SLIDING,
        {"markov_rank": 4, "markov_head_type": "rnn", "draft_vocab_size": len(IDS)},
    ),
    "speculators, DFlash 2": partial(speculators_block, "dflash2", SLIDING, TWO),
    "speculators, XPress": partial(
        speculators_block, "xpress", {}, {"xpress_rank": 4, "draft_vocab_size": len(IDS)}
    ),
    "speculators, XPress, anchored, window": partial(
        speculators_block,
        "xpress",
        SLIDING,
        {"xpress_rank": 4, "xpress_mlp_ratio": 3, "sample_from_anchor": True},
    ),
    "speculators, EAGLE-3": partial(
        speculators_eagle3, {"model_type": "llama"}, {"norm_before_residual": True}
    ),
    "speculators, EAGLE-3, one norm": partial(
        speculators_eagle3, {"model_type": "llama"}, {"norm_before_fc": True}
    ),
    "speculators, EAGLE-3, norms": partial(
        speculators_eagle3, {"model_type": "qwen3"}, {"fc_norm": True, "norm_output": True}
    ),
    "speculators, P-EAGLE": partial(
        speculators_parallel, {"model_type": "llama"}, {"norm_before_residual": True}
    ),
    "speculators, P-EAGLE, one norm, all tokens": partial(
        speculators_parallel, {"model_type": "qwen3"}, {"norm_before_fc": True, "draft_vocab_size": VOCAB}
    ),
    "speculators, P-EAGLE, norms, window": partial(
        speculators_parallel, {"model_type": "qwen3", **SLIDING}, {"fc_norm": True, "norm_output": True}
    ),
    "speculators, MTP": partial(speculators_mtp, {"model_type": "qwen3"}),
    "speculators, MTP, Qwen3-Next": partial(
        speculators_mtp, {"model_type": "qwen3_next", **HYBRID, **EXPERTS}
    ),
    "speculators, MTP, Qwen3.5": partial(speculators_mtp, {"model_type": "qwen3_5_text", **HYBRID}),
    "speculators, MTP, Qwen3.5, experts": partial(
        speculators_mtp, {"model_type": "qwen3_5_moe_text", **HYBRID, **EXPERTS}
    ),
}


def saved(folder: Path, entry) -> Path:
    """The checkpoint of an entry of layouts.json."""
    weights = {key: filled(key, shape) for key, shape in entry["shapes"].items()}
    own, shared = tables(target(entry["target"])), entry["of the target"]
    weights |= {
        key: own[key] if len(own[key]) == shape[0] else own[key][IDS] for key, shape in shared.items()
    }
    weights |= dict(zip(("d2t", "t2d"), ref.maps(), strict=True)) if entry["maps"] else {}
    return ref.written(folder, entry["config"], weights)


def ours(folder: Path, of: Model, rows: int):
    """(logits [rows, V], confidence [4]) of the drafter in a folder, as the commands load it. Rows after the
    fourth are those after two, three, ... known tokens.
    """
    made = choose.published(folder, of, str(folder))
    logits, chance = ref.drafted(made, TEXT[: KNOWN + 3], KNOWN), None
    logits = torch.cat((logits, *(ref.drafted(made, TEXT[:size], size) for size in range(2, rows - 2))))
    network = getattr(made, "network", None)
    if network is not None and network.variant.confidence:
        session = made.begin([TEXT[:KNOWN]], 64, ref.states(of, TEXT[: KNOWN - 1]))
        session.root()
        chance = network.confidence(session.states[:, :4], previous())[0]
    return logits, chance


def apart(one, other) -> float:
    """The largest difference of rows; infinite if other tokens have no logit."""
    shut = one.isinf() & other.isinf()
    return float((one - other).masked_fill(shut, 0).abs().max())


def compared(made, expected, chance) -> float:
    """The largest difference of logits and confidences."""
    if (expected.isinf().sum(-1) >= VOCAB // 2).all():
        made = (made[0].log_softmax(-1), made[1])  # the rows of candidates are probabilities
        expected = expected.log_softmax(-1)
    worst = apart(made[0], expected)
    return worst if chance is None else max(worst, float((made[1] - chance).abs().max()))


def recorded(of: Model, about, weights, logits, chance):
    """What layouts.json keeps of a layout: keys, shapes and the reference's logits."""
    own, maps = tables(of), {"d2t", "t2d"} <= set(weights)
    shapes = {key: [*each.shape] for key, each in weights.items() if key not in ("d2t", "t2d")}
    shared = {}
    for key, table in own.items():
        if key in weights and any(torch.equal(weights[key], each) for each in (table, table[IDS])):
            shared[key] = shapes.pop(key)
    rows = [[None if each == -torch.inf else round(each, 7) for each in row] for row in logits.tolist()]
    entry = {"target": of.name, "config": about, "shapes": shapes, "of the target": shared, "maps": maps}
    return entry | {"logits": rows, "confidence": None if chance is None else chance.tolist()}


def run(name: str):
    """(largest difference, largest logit, entry) of a layout whose reference is at hand."""
    of, about, weights, logits, chance = LAYOUTS[name]()
    about = json.loads(json.dumps(about, default=str))
    with tempfile.TemporaryDirectory() as folder:
        worst = compared(ours(ref.written(Path(folder), about, weights), of, len(logits)), logits, chance)
    largest = float(logits[logits.isfinite()].abs().max())
    return worst, largest, recorded(of, about, weights, logits, chance)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true")
    write, entries = parser.parse_args().write, json.loads(FILE.read_text()) if FILE.exists() else {}
    torch.set_grad_enabled(False)
    for name in LAYOUTS:
        try:
            worst, largest, entries[name] = run(name)
        except (pytest.skip.Exception, ImportError) as error:
            print(f"{name}: not run: {error}")
            continue
        print(f"{name}: {worst:.1e}, logits up to {largest:.1f}")
    if write:
        FILE.write_text(json.dumps({name: entries[name] for name in LAYOUTS}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
