"""Saved DFlash drafters (chen2026dflash): ours, and those of z-lab, SpecForge and speculators."""

from pathlib import Path
from typing import Any

from transformers import Qwen3Config

from draftproof.gpu.drafters.block_diffusion import BlockNetwork, Variant
from draftproof.gpu.drafters.published import Layout, config_of, fill, settings, weights
from draftproof.theory.errors import BadInput

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
