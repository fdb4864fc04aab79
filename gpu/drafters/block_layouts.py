"""Saved block drafters: ours, and those of z-lab (DFlash, DFlash 2), SpecForge, DeepSpec and speculators."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from draftproof.gpu.drafters import markov
from draftproof.gpu.drafters import published as saved
from draftproof.gpu.drafters.block_diffusion import BlockNetwork, Variant
from draftproof.theory.errors import BadInput

LAYOUT: saved.Layout = (
    ("logit_head.markov_head.", "markov_head."),
    ("logit_head.confidence_head.", "confidence_head."),
)
"""Early DSpark checkpoints have their heads one level deeper; all other keys are parameters' own names."""
LOADED = {"markov_head_type": markov.KINDS, "attention_mode": ("gqa", "mha")}
LOADED |= {"is_neox_style": ("true",), "use_swa": ("false",), "projector_type": ("dspark", "none")}
"""Settings of which no other values can be loaded; the first is the default."""


def load_block(folder: Path, target: Any) -> BlockNetwork:
    """The block drafter in a folder; BadInput if keys are missing or unknown, if the drafter does not fit the
    target, or if a setting has a value that cannot be loaded. Without a `mask_token_id` the checkpoint has an
    embedding for masks, as that of the pair has.
    """
    about, given = saved.config_of(folder), saved.weights(folder)
    how: dict[str, Any] = about | (about.get("dflash_config") or {})
    kind, inner = about.get("speculators_model_type"), about
    if kind:
        (inner, states) = saved.settings(about, [saved.INNER, "aux_hidden_state_layer_ids"], folder)
        how["target_layer_ids"] = [k - 1 for k in states]  # hidden state k + 1 is the output of layer k
    block, sources = saved.settings(how, ["block_size", "target_layer_ids"], folder)
    for name, loaded in LOADED.items():
        if (value := str(how.get(name, loaded[0])).lower()) not in loaded:
            raise BadInput(f"{folder}: {name} {value}: {', '.join(loaded)} can be loaded")
    config, text = saved.decoder(inner, folder), target.config.get_text_config(decoder=True)
    if "sliding_attention" in (getattr(config, "layer_types", None) or ()):
        (config.sliding_window,) = saved.settings(inner, ["sliding_window"], folder)
    saved.fits(config.hidden_size, text, folder)
    if min(sources) < -1 or max(sources) >= text.num_hidden_layers:
        raise BadInput(f"{folder}: reads layers {[*sources]} of a target with {text.num_hidden_layers}")
    tables = {"embed_tokens": target.get_input_embeddings(), "lm_head": target.get_output_embeddings()}
    own = {name: each for name, module in tables.items() if (each := _own(given, name, module.weight))}
    config.vocab_size = vocab = tables["lm_head"].weight.shape[0]
    ids = saved.identified(given, vocab, folder) if own.get("lm_head", vocab) != vocab else None
    mask = None if "mask_embedding" in given else how.get("mask_token_id")
    if mask is not None:
        mask = saved.mask_token(mask, own.get("embed_tokens") or len(tables["embed_tokens"].weight), folder)
    network = BlockNetwork(config, block, tuple(sources), _variant(how, config, given), mask, own, ids)
    left_out = *(f"{name}." for name in tables if name not in own), *saved.SHARED
    return saved.fill(network, target, given, LAYOUT, folder, left_out)


def _variant(how: Mapping[str, Any], config: Any, given: Mapping[str, Tensor]) -> Variant:
    """The variant that a config.json describes, if need be by the weights beside it."""
    kind = how.get("speculators_model_type")
    rank, table = how.get("markov_rank"), given.get("markov_head.markov_w1.weight", torch.empty(0, 0))
    rank = how.get("xpress_rank", 256) if kind == "xpress" else rank
    sure = (how.get("confidence_head_alpha") or 0) > 0 or (kind and "confidence_head.proj.weight" in given)
    deep = any("DSparkModel" in str(each) for each in how.get("architectures") or ())  # DeepSpec's
    pairs = ("conv_kernel_size", "conv_group_size"), ("selector_rank", "selector_top_k")
    conv, selector = ((how[a], how[b]) if how.get(a) else None for a, b in pairs)
    causal = how.get("is_causal", how.get("causal"))
    if how.get("sliding_window_non_causal", kind == "dflash2"):
        causal = False
    return Variant(
        markov=table.shape[1] if rank is None else rank,
        confidence=bool(how.get("enable_confidence_head", sure)),
        joined=how.get("confidence_head_with_markov", "dflash_config" not in how),
        first=0 if how.get("sample_from_anchor", deep or kind == "dspark") else 1,
        conv=conv,
        selector=selector,
        scale=how.get("input_embedding_scale", config.hidden_size**0.5 if saved.gemma(config) else 1.0),
        multiplier=how.get("output_multiplier", 1.0),
        cap=how.get("final_logit_softcapping") or None,
        causal=causal,
        anchored=bool(kind),
        head=str(how.get("markov_head_type", "vanilla")).lower(),
        refiner=rank * how.get("xpress_mlp_ratio", 2) if kind == "xpress" else 0,
    )


def _own(given: Mapping[str, Tensor], name: str, theirs: Tensor) -> int:
    """The rows of the checkpoint's own table; 0 if it has none, or a copy of the target's."""
    own = given.get(f"{name}.weight")
    same = own is None or (own.shape == theirs.shape and torch.equal(own.to(theirs), theirs))
    return 0 if own is None or same else len(own)
