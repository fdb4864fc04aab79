"""Models other than Llama: learned positions, other attention code, windows wider than the text."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import AutoModelForCausalLM, GPT2Config, MistralConfig, Qwen2Config

from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.models import Model
from draftproof.gpu.rows import Sampling
from draftproof.gpu.structures import structure
from draftproof.gpu.verify import named
from tests.gpu.small import Numbers

COMMON = {"vocab_size": 40, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": None}
SIZES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "initializer_range": 0.3,
}
CONFIGS = {
    "gpt2": GPT2Config(n_positions=64, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3, **COMMON),
    "mistral": MistralConfig(sliding_window=64, **SIZES, **COMMON),
    "qwen2": Qwen2Config(**SIZES, **COMMON),
}


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", CONFIGS)
def test_greedy_decoding_is_the_models_own(name, attention):
    torch.manual_seed(0)
    made = AutoModelForCausalLM.from_config(CONFIGS[name], attn_implementation=attention)
    network = made.eval().requires_grad_(False)
    model = Model(name, network, Numbers(), 40, 64)
    prompts = [[3, 4, 5], [7]]
    texts = [[] for _ in prompts]
    steps = generate(
        model,
        ModelDrafter(model),
        prompts,
        verifier=named("traversal"),
        structure=structure("tree:2x3"),
        sampling=Sampling(0.0),
        max_new_tokens=60,
        ignore_end=True,
    )
    for step in steps:
        for row, tokens in zip(step.rows, step.emitted, strict=True):
            texts[row] += tokens
    for prompt, text in zip(prompts, texts, strict=True):
        ids = torch.tensor([[*prompt, *text]])
        with torch.no_grad():
            own = network(input_ids=ids, use_cache=False).logits[0].argmax(-1)
        assert text == own[len(prompt) - 1 : -1].tolist()
        assert len(text) == 60
