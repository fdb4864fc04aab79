"""Networks of every architecture of causal language models, small and with random weights."""

from dataclasses import fields
from typing import Any

import torch
from transformers import AutoModelForCausalLM, GenerationConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from draftproof.gpu.network.models import Model, context_of
from tests.gpu.small import Numbers

LEFT_OUT = {
    "blt",
    "dots3_note",
    "emu3",
    "fuyu",
    "gemma3",
    "gemma3n",
    "gemma4",
    "gemma4_assistant",
    "gemma4_unified",
    "gemma4_unified_assistant",
    "git",
    "got_ocr2",
    "llama4",
    "mllama",
    "moss_transcribe_diarize",
    "musicgen",
    "musicgen_melody",
    "phi4_multimodal",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen4_exp",
    "qwen4_exp_text",
}
"""Most of them have parts for images or audio."""

VOCAB, CONTEXT, WINDOW = 48, 96, 24

SIZES: dict[str, Any] = {
    "vocab_size": VOCAB,
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx"), CONTEXT),
    **dict.fromkeys(("hidden_size", "n_embd", "d_model", "word_embed_proj_dim"), 32),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "d_ff", "decoder_ffn_dim", "ffn_hidden_size"), 48),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "attention_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_experts_per_tok", "moe_topk"), 2),
    **dict.fromkeys(("head_dim", "v_head_dim", "mamba_chunk_size", "chunk_size"), 8),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 16),
    **dict.fromkeys(("expert_ffn_hidden_size", "shared_intermediate_size"), 16),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank", "index_head_dim"), 16),
    **dict.fromkeys(("qk_rope_head_dim", "qk_nope_head_dim", "rotary_dim", "index_n_heads"), 4),
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace"), 1),
    **dict.fromkeys(("bos_token_id", "eos_token_id"), 0),
    **dict.fromkeys(("initializer_range", "init_std"), 0.3),
    "pad_token_id": None,
    "sliding_window": WINDOW,
}
"""What every configuration is given, as far as its class has it."""

MAMBA = {
    "num_hidden_layers": 4,
    "mamba_d_ssm": 64,
    "mamba_d_state": 8,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
    "mamba_n_heads": 4,
    "mamba_d_head": 16,
}
LINEAR = {
    "num_hidden_layers": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}
KINDS = ["sliding_attention", "full_attention"]
LATENT = {"num_key_value_heads": 4, "head_dim": 4}
SHARED = {
    "num_hidden_layers": 4,
    "num_kv_shared_layers": 2,
    "vocab_size_per_layer_input": VOCAB,
    "hidden_size_per_layer_input": 8,
    "layer_types": KINDS * 2,
}
CHUNKS = {"num_hidden_layers": 4, "attention_chunk_size": 8, "no_rope_layers": [1, 0, 1, 0]}
ENCODER = {"pad_token_id": 1}
DECODER = {"pad_token_id": 1, "is_decoder": True}
LONGROPE = {
    "original_max_position_embeddings": 32,
    "rope_parameters": {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "original_max_position_embeddings": 32,
        "short_factor": [1.0] * 4,
        "long_factor": [4.0] * 4,
    },
}

SPECIAL: dict[str, dict[str, Any]] = {
    "axk1": LATENT,
    "axk2": LATENT,
    "bailing_hybrid": {"num_hidden_layers": 4, "layer_group_size": 2, **LATENT, "head_dim": 8},
    "bamba": {**MAMBA, "attn_layer_indices": [1, 3]},
    "cohere_compass_text": {
        "rope_parameters": {each: {"rope_type": "default", "rope_theta": 1e4} for each in KINDS},
        "layer_types": KINDS,
    },
    "cpmant": {"prompt_length": 4, "segment_types": 4, "dim_head": 8, "prompt_types": 4},
    "ctrl": {"dff": 48},
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8},
        "ffn_config": {"ffn_hidden_size": 48, "moe_num_experts": 4, "moe_top_k": 2},
    },
    "deepseek_v2": LATENT | {"topk_method": "greedy"},
    "deepseek_v3": LATENT,
    "deepseek_v32": LATENT | {"index_topk": 8},
    "dots1": {"n_shared_experts": 1},
    "dots3_note_text": LATENT | {"index_topk": 8},
    "falcon_h1": MAMBA,
    "falcon-alibi": {"alibi": True},
    "gemma2": {"query_pre_attn_scalar": 8},
    "gemma3n_text": SHARED,
    "gemma4_text": SHARED,
    "glm4_moe_lite": LATENT,
    "glm_moe_dsa": LATENT | {"index_topk": 8},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": WINDOW, "num_layers": 2},
    "granitemoehybrid": {**MAMBA, "layer_types": ["mamba", "attention"] * 2, "num_key_value_heads": 2},
    "hy_v4": LATENT | {"index_topk": 8},
    "jamba": {**MAMBA, "attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False},
    "kimi_linear": {
        **LATENT,
        "num_hidden_layers": 4,
        "layer_types": ["linear_attention", "full_attention"] * 2,
        "linear_head_dim": 8,
        "linear_num_heads": 4,
        "head_dim": 8,
    },
    "lfm2": {"num_hidden_layers": 4, "layer_types": ["conv", "full_attention"] * 2},
    "lfm2_moe": {"num_hidden_layers": 4, "layer_types": ["conv", "full_attention"] * 2},
    "lfm3": {"num_hidden_layers": 4, "layer_types": ["conv", "full_attention"] * 2},
    "llama4_text": CHUNKS | {"floor_scale": 8},
    "llama4_text-cold": CHUNKS | {"attn_temperature_tuning": False},
    "longcat_flash": {**LATENT, "zero_expert_num": 2},
    "mamba2": {"head_dim": 16, "num_heads": 4, "state_size": 8, "n_groups": 2},
    "minicpm3": LATENT,
    "minimax": {
        "num_hidden_layers": 4,
        "layer_types": ["linear_attention", "full_attention"] * 2,
        "block_size": 8,
    },
    **dict.fromkeys(
        ("camembert", "data2vec-text", "roberta", "roberta-prelayernorm", "xlm-roberta"), ENCODER
    ),
    **dict.fromkeys(("modernbert-decoder", "xlm-roberta-xl"), ENCODER),
    **{f"{name}-decoder": DECODER for name in ("bert", "electra", "ernie", "roberta", "rembert", "roformer")},
    "xmod": ENCODER | {"default_language": "en_XX"},
    "nemotron_h": {
        "num_hidden_layers": 3,
        "layers_block_type": ["mamba", "attention", "moe"],
        "mamba_num_heads": 4,
        "mamba_head_dim": 16,
        "ssm_state_size": 8,
        "n_groups": 2,
        "moe_shared_expert_intermediate_size": 16,
    },
    "olmo_hybrid": LINEAR,
    "phi3-longrope": LONGROPE,
    "qwen2-window": {"use_sliding_window": True, "max_window_layers": 1},
    "qwen3_5_text": LINEAR,
    "qwen3_5_moe_text": LINEAR,
    "qwen3_next": LINEAR,
    "qwen4_exp_text": LINEAR,
    "reformer": {
        "is_decoder": True,
        "axial_pos_shape": (8, 12),
        "axial_pos_embds_dim": (16, 16),
        "attention_head_size": 8,
        "local_attn_chunk_length": 8,
        "lsh_attn_chunk_length": 8,
        "attn_layers": ("local", "lsh"),
        "feed_forward_size": 48,
        "pad_token_id": 1,
    },
    "roc_bert": {
        "pronunciation_vocab_size": 8,
        "shape_vocab_size": 8,
        "pronunciation_embed_dim": 8,
        "shape_embed_dim": 8,
        "pad_token_id": 1,
    },
    "xlm": {"emb_dim": 32, "n_words": VOCAB},
    "recurrent_gemma": {"num_hidden_layers": 3, "lru_width": 32, "attention_window_size": WINDOW},
    "youtu": LATENT,
    "zamba": {
        **MAMBA,
        "num_hidden_layers": 6,
        "use_mamba_kernels": False,
        "n_mamba_heads": 2,
        "attn_layer_period": 3,
        "attn_layer_offset": 1,
        "attention_head_dim": 16,
    },
    "zamba2": {
        "num_hidden_layers": 4,
        "layers_block_type": ["mamba", "hybrid"] * 2,
        "n_mamba_heads": 4,
        "mamba_d_state": 8,
        "use_mamba_kernels": False,
    },
    "zaya": {"num_experts_per_tok": 1, "router_hidden_size": 16, "num_hidden_layers": 4},
}
"""More settings of an architecture, or of a variant of one."""


def config(name: str, **more: Any) -> Any:
    """A small configuration; a variant's name is that of its architecture and a word after it."""
    kind = CONFIG_MAPPING[name if name in CONFIG_MAPPING else name.rsplit("-", 1)[0]]
    known = {field.name for field in fields(kind)}
    given = {key: value for key, value in SIZES.items() if key in known}
    return kind(**given | SPECIAL.get(name, {}) | more)


def network(name: str, **options: Any) -> Any:
    """A network of this architecture with random weights."""
    torch.manual_seed(0)
    made = AutoModelForCausalLM.from_config(config(name), **options).eval().requires_grad_(False)
    made.generation_config = GenerationConfig()
    return made


def model(name: str, **options: Any) -> Model:
    """The same as a model of the engine."""
    made = network(name, **options)
    return Model(name, made, Numbers(), VOCAB, context_of(made.config))


def names() -> list[str]:
    """Every architecture of transformers' causal language models, with variants, except those `LEFT_OUT`."""
    return sorted({*MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, *SPECIAL} - LEFT_OUT)
