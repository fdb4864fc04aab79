"""The fused pass of a small Llama gives the network's own logits; other networks are left alone."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

from draftproof.gpu.drafters.choose import pair
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.network import fused as module
from draftproof.gpu.network.fused import Fused, fused
from draftproof.gpu.network.reader import Reader
from tests.gpu.small import PROMPTS, steps_of

SIZES = {
    "vocab_size": 50,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "max_position_embeddings": 64,
}


def network(**more):
    torch.manual_seed(3)
    made = LlamaForCausalLM(LlamaConfig(**SIZES | {"initializer_range": 0.3} | more))
    for name, weight in made.named_parameters():
        if "norm" in name:
            weight.data += 0.2 * torch.randn_like(weight)
    return made.eval().requires_grad_(False)


def rows(net, own, spelling="chain:3"):
    """Logits of two texts of unequal length, then of a draft after them."""
    reader, ids = Reader(own, 2, 40, 64), torch.arange(16).view(2, 8) * 3
    reader.network = net
    first = reader.prefill([[0] * 8, [0] * 5], input_ids=ids, logits_to_keep=1).logits
    found = [first]
    for stage in structure(spelling).stages:
        size = len(stage.nodes)
        words = ids[:, :size]
        given = size, stage.level.first, stage.level.sees, stage.level.depth
        found.append(reader.forward(*given, input_ids=words).logits)
    return torch.cat(found, 1)


@pytest.mark.parametrize("spelling", ["chain:3", "tree:2x3"])
@pytest.mark.parametrize("more", [{}, {"num_key_value_heads": 4}, {"tie_word_embeddings": True}])
def test_logits_are_the_networks_own(spelling, more):
    own = network(**more)
    made = fused(own)
    assert isinstance(made, Fused)
    torch.testing.assert_close(rows(made, own, spelling), rows(own, own, spelling), rtol=0, atol=2e-5)


def test_a_wrong_pass_is_noticed():
    own = network()
    made = fused(own)
    made.turns = [each.flip(0) for each in made.turns]
    assert (rows(made, own) - rows(own, own)).abs().max() > 1e-2


@pytest.mark.parametrize(
    "more",
    [
        {"attention_bias": True},
        {"mlp_bias": True},
        {"hidden_act": "gelu"},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 1e4}},
        {"attn_implementation": "eager"},
    ],
)
def test_other_networks_are_left_alone(more, monkeypatch):
    own = network(**more)
    assert fused(own) is own


def test_hooks_sizes_and_other_classes_are_left_alone(monkeypatch):
    own = network()
    own.register_forward_hook(lambda *_: None)
    assert fused(own) is own
    other = Qwen3ForCausalLM(Qwen3Config(**SIZES))
    assert fused(other) is other
    own = network()
    monkeypatch.setattr(module, "MOST", own.num_parameters() - 1)
    assert fused(own) is own


def test_weights_changed_between_runs_are_read_again(monkeypatch):
    _, drafter = pair(None, None, "cpu")
    made = []
    monkeypatch.setattr(module, "Fused", lambda given: made.append(given) or Fused(given))
    for _ in range(2):
        drafter.begin([[5, 6], [7]], 16)
    assert made == [drafter.model.network] * 2


def test_texts_are_those_of_the_unfused_drafter(monkeypatch):
    options = {"max_new_tokens": 24, "ignore_end": True}
    steps = [each.emitted for each in steps_of("block", "chain:3", "near", PROMPTS, **options)]
    monkeypatch.setattr(module, "MOST", 0)
    assert steps == [each.emitted for each in steps_of("block", "chain:3", "near", PROMPTS, **options)]
