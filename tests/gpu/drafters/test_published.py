"""Published drafters give the reference implementations' own logits, and decode losslessly."""
# ruff: noqa: E402

from copy import deepcopy

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


from draftproof.gpu.drafters import choose
from draftproof.gpu.drafters.block_diffusion import load_block
from draftproof.gpu.drafters.eagle3 import Eagle3Head
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.engine.output import texts
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput
from studies.train_pair import new_block, save_block
from tests.gpu.drafters import reference as ref

NEAR = {"rtol": 0, "atol": 1e-4}


def drafter(folder, of=None):
    """The drafter in a folder, as the commands load it."""
    of = of or ref.target()
    return choose.published(folder, of, str(folder))


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


def law(made, tokens, verifier="block", spelling="chain:3", **options):
    """Texts of three prompts by a drafter, or by plain decoding."""
    steps = generate(
        ref.target(),
        made,
        [[5], [3, 17, 8, 29, 1], [33, 12]],
        verifier=named(verifier),
        structure=structure(spelling) if made else None,
        max_new_tokens=tokens,
        ignore_end=True,
        **options,
    )
    return texts(steps, 3)


@pytest.mark.parametrize(("verifier", "spelling"), [("block", "chain:3"), ("traversal", "tree:2x2")])
def test_greedy_texts_are_the_targets_own(tmp_path, verifier, spelling):
    folder = ref.written(tmp_path, *ref.eagle3(ref.target(), ref.IDS))
    plain, drafted = (
        law(each, 12, verifier, spelling, sampling=Sampling(0.0)) for each in (None, drafter(folder))
    )
    assert drafted == plain


def test_drafted_tokens_are_those_that_d2t_names(tmp_path):
    made = drafter(ref.written(tmp_path, *ref.eagle3(ref.target(), ref.IDS)))
    rows = ref.drafted(made)
    assert (rows.isfinite().all(0).nonzero()[:, 0] == ref.IDS).all()
    assert not hasattr(made.head, "embed_tokens")


def changed(weights, key):
    """Checkpoints that cannot be loaded."""
    made = dict(weights)
    if key == "lost":
        del made["midlayer.hidden_norm.weight"]
    elif key == "unknown":
        made["midlayer.gate.weight"] = torch.zeros(2)
    elif key == "shape":
        made["fc.weight"] = made["fc.weight"][:, :32]
    elif key == "ids":  # d2t as ids, not as distances
        made["d2t"] = ref.IDS
    elif key == "maps":
        made["t2d"] = made["t2d"].roll(1)
    elif key == "d2t":
        del made["d2t"]
    return made


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("lost", "the checkpoint lacks weights: midlayer.hidden_norm.weight$"),
        ("unknown", "the checkpoint has unknown weights: midlayer.gate.weight$"),
        ("shape", r"fc.weight has the shape \[32, 32\], not \[32, 96\]$"),
        ("ids", "d2t does not name 24 different tokens of the target's 40$"),
        ("maps", "t2d and d2t name different tokens$"),
        ("d2t", r"the checkpoint lacks weights: d2t \(24 tokens of the target's 40\)$"),
    ],
)
def test_what_cannot_be_loaded_is_named(tmp_path, what, says):
    about, weights = ref.eagle3(ref.target(), ref.IDS)
    with pytest.raises(BadInput, match=says):
        drafter(ref.written(tmp_path, about, changed(weights, what)))


def test_a_config_that_lacks_keys_and_an_unknown_kind_are_bad_input(tmp_path):
    about = {"dflash_config": {}, "block_size": 4}
    with pytest.raises(BadInput, match=r"config\.json lacks target_layer_ids$"):
        drafter(ref.written(tmp_path, about, {"fc.weight": torch.zeros(2)}))
    with pytest.raises(BadInput, match=r"^speculators_model_type medusa: eagle3, dflash can be loaded$"):
        choose.kind({"speculators_model_type": "medusa"})


def turns(network):
    """Types and values of the frequencies by which a network's positions turn."""
    found = [each for name, each in network.named_buffers() if name.endswith("inv_freq")]
    return [(each.dtype, each.tolist()) for each in found]


def test_rotary_frequencies_of_a_loaded_drafter_stay_in_float32(tmp_path):
    target = deepcopy(ref.target().network).bfloat16()
    made = new_block(target, 4, 1)
    save_block(made, tmp_path)
    loaded = load_block(tmp_path, target)
    assert {each.dtype for each in loaded.parameters()} == {torch.bfloat16}
    assert turns(loaded) == turns(made) != []
    assert turns(loaded.bfloat16()) != turns(made) != turns(loaded.float())


def of_eagle(tmp_path):
    """(our logits, EAGLE's own) along a chain."""
    net, folder = eagle(tmp_path)
    known, ids = 7, torch.tensor([ref.TEXT])
    net.reset()
    state, past = net(features()[:, : known - 1], ids[:, 1:known], use_cache=True)
    expected = [state[:, -1]]
    for place in range(known, ids.shape[1]):
        state, past = net(state[:, -1:], ids[:, place : place + 1], past_key_values=past, use_cache=True)
        expected.append(state[:, -1])
    return ref.drafted(drafter(folder)), ref.wide(net.lm_head(net.norm(torch.cat(expected))))


def test_eagle(tmp_path):
    torch.testing.assert_close(*of_eagle(tmp_path), **NEAR)


@pytest.mark.slow
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


@pytest.mark.slow
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


HEADS = {"markov_rank": 4, "enable_confidence_head": True, "confidence_head_with_markov": True}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("checkout", "module", "kind", "heads"),
    [
        ("dflash", "dflash.model", "DFlashDraftModel", {}),
        ("SpecForge", "specforge.modeling.draft.dflash", "DFlashDraftModel", {}),
        ("SpecForge", "specforge.modeling.draft.dspark", "DSparkDraftModel", HEADS),
    ],
)
def test_dflash(tmp_path, checkout, module, kind, heads):
    found = getattr(ref.imported(ref.checkout(checkout), module), kind)
    how = {"target_layer_ids": [1, 3, 6], "mask_token_id": 11, **heads}
    about = ref.SIZES | {"num_hidden_layers": 2, "head_dim": 16, "block_size": 5, "dflash_config": how}
    config = found.config_class(**about, num_target_layers=ref.DEPTH)
    config._attn_implementation = "sdpa"
    net = ref.random(found(config))
    folder = ref.written(tmp_path, about | {"model_type": "qwen3"}, net.state_dict())
    of, known = ref.target(), 7
    block = torch.tensor([[ref.TEXT[known - 1], 11, 11, 11, 11]])
    context = features((2, 4, 7))[:, : known - 1]
    places = torch.arange(known - 1 + 5)[None]
    embedded = of.network.get_input_embeddings()(block)
    states = net(position_ids=places, noise_embedding=embedded, target_hidden=context, is_causal=False)[:, 1:]
    expected = of.network.lm_head(states)
    if heads:
        before = torch.tensor([ref.TEXT[known - 1 :]])
        expected = net.apply_logits_head(expected, prev_token_ids=before, hidden_states=states)
        chance = net.predict_confidence(states, prev_token_ids=before)
    made = drafter(folder)
    torch.testing.assert_close(ref.drafted(made), expected[0], **NEAR)
    if heads:
        torch.testing.assert_close(made.network.confidence(states, before), chance, **NEAR)


def swapped(own):
    """Takes embeddings for features."""
    return lambda self, embedded, feature, *rest, **more: own(self, feature, embedded, *rest, **more)


def earlier(own):
    """Reads the hidden states of the layers before."""
    return lambda self, hidden: own(self, [hidden[0], *hidden[:-1]])


BROKEN = {"forward": swapped, "fused": earlier}


@pytest.mark.parametrize("flaw", BROKEN)
def test_a_head_that_is_run_wrongly_is_noticed(tmp_path, monkeypatch, flaw):
    monkeypatch.setattr(Eagle3Head, flaw, BROKEN[flaw](getattr(Eagle3Head, flaw)))
    ours, theirs = of_eagle(tmp_path)
    assert not torch.allclose(ours, theirs, **NEAR)
