"""Published drafters give the reference implementations' own logits, and decode losslessly."""
# ruff: noqa: E402

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


from draftproof.gpu.drafters import choose
from tests.gpu.drafters import reference as ref

NEAR = {"rtol": 0, "atol": 1e-4}


def drafter(folder, of=None):
    """The drafter in a folder, as the commands load it."""
    of = of or ref.target()
    found = choose.kind(choose.about(folder))
    return choose._published(folder, found, of, str(folder))


def features(layers=(2, 4, 5)):
    """The text's hidden states side by side, of all tokens but the last."""
    every = ref.states(ref.target())
    return torch.cat([every[layer] for layer in layers], -1)[:, :-1]


def eagle(folder, **changes):
    """EAGLE's own model, and its checkpoint without embeddings, which are the target's."""
    config = type("Config", (), {"rope_scaling": None, "pretraining_tp": 1, **ref.EAGLE, **changes})
    net = ref.random(ref.imported(ref.checkout("EAGLE"), "eagle.model.cnets").Model(config()))
    net.d2t, net.t2d = ref.maps()
    weights = {key: each for key, each in net.state_dict().items() if key != "embed_tokens.weight"}
    net.embed_tokens = ref.target().network.get_input_embeddings()
    return net, ref.written(folder, ref.EAGLE | changes, weights)


def test_eagle(tmp_path):
    net, folder = eagle(tmp_path)
    known, ids = 7, torch.tensor([ref.TEXT])
    net.reset()
    state, past = net(features()[:, : known - 1], ids[:, 1:known], use_cache=True)
    expected = [state[:, -1]]
    for place in range(known, ids.shape[1]):
        state, past = net(state[:, -1:], ids[:, place : place + 1], past_key_values=past, use_cache=True)
        expected.append(state[:, -1])
    expected = ref.wide(net.lm_head(net.norm(torch.cat(expected))))
    torch.testing.assert_close(ref.drafted(drafter(folder)), expected, **NEAR)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("changes", [{}, {"fc_norm": True, "head_dim": 16}, {"norm_output": False}])
def test_specforge(tmp_path, changes):
    module = ref.imported(ref.checkout("SpecForge"), "specforge.modeling.draft.llama3_eagle")
    about = ref.EAGLE | {"architectures": ["LlamaForCausalLMEagle3"], **changes}
    about["eagle_config"] = {"eagle_aux_hidden_state_layer_ids": [0, 3, 6]}
    config = module.LlamaConfig(**about)
    config.pretraining_tp = 1
    net = ref.random(module.LlamaForCausalLMEagle3(config))
    net.d2t, net.t2d = ref.maps()
    folder = ref.written(tmp_path, about, net.state_dict())
    ids, known = torch.tensor([ref.TEXT]), 7
    state, cache, found = net.project_hidden_states(features((1, 4, 7))), [[], []], []
    size = state.shape[1]
    mask = net.prepare_decoder_attention_mask(torch.ones(1, size, dtype=torch.bool), state, 1, size, 0)
    for step in range(4):
        shifted = torch.nn.functional.pad(ids[:, 1 + step :], (0, step))
        places = torch.arange(size)[None]
        state = net.backbone(net.embed_input_ids(shifted), state, cache, mask, places)
        found.append(net.compute_logits(state)[:, known - 2])
    torch.testing.assert_close(ref.drafted(drafter(folder)), ref.wide(torch.cat(found)), **NEAR)


@pytest.mark.parametrize(
    ("type_", "changes"),
    [
        ("llama", {"norm_before_residual": True}),
        ("llama", {"norm_before_fc": True}),
        ("qwen3", {"fc_norm": True, "norm_output": True}),
    ],
)
def test_speculators(tmp_path, type_, changes):
    eagle3 = pytest.importorskip("speculators.models.eagle3")
    layer = {"model_type": type_, **ref.SIZES, "head_dim": 8, "num_hidden_layers": 2}
    about = {"transformer_layer_config": layer, "draft_vocab_size": 24, **changes}
    about["eagle_aux_hidden_state_layer_ids"] = [1, 3, 8]
    config = eagle3.Eagle3SpeculatorConfig(**about)
    config.transformer_layer_config._attn_implementation = "eager"
    net = ref.random(eagle3.Eagle3DraftModel(config))
    net.d2t, net.t2d = ref.maps()
    weights = {key: each for key, each in net.state_dict().items() if not key.startswith("verifier_")}
    folder = ref.written(tmp_path, about | {"speculators_model_type": "eagle3"}, weights)
    found = []
    net.lm_head.register_forward_hook(lambda *given: found.append(given[2][:, 5]))
    ids = torch.tensor([ref.TEXT])
    hidden = features((1, 3, 8))
    net(hidden, ids[:, 1:], torch.zeros(1, hidden.shape[1], dtype=torch.long), ttt_steps=4)
    torch.testing.assert_close(ref.drafted(drafter(folder)), ref.wide(torch.cat(found)), **NEAR)
