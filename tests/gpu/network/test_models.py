"""Models by path: what loads, what fits, and what is said where it does not."""
# ruff: noqa: E402

import json
import re
from shutil import copytree

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, MistralConfig

from draftproof.gpu.checks.models.greedy import Reference
from draftproof.gpu.checks.row_test import checked_pair
from draftproof.gpu.drafters.choose import SHIPPED, pair
from draftproof.gpu.drafters.drafter import ModelDrafter
from draftproof.gpu.drafters.eagle3 import FeatureDrafter
from draftproof.gpu.drafters.structures import structure
from draftproof.gpu.engine.loop import generate
from draftproof.gpu.network import reader, whole
from draftproof.gpu.network.models import check_pair, context_of, load
from draftproof.gpu.sampling.rows import Sampling
from draftproof.gpu.verify import named
from draftproof.theory.errors import BadInput
from studies.train_pair import byte_pairs
from tests.gpu import architectures
from tests.gpu.small import network, new_head

TEXT = ["the quick brown fox jumps over the lazy dog; " * 8, "def f(x):\n    return x + 1\n" * 8]


def saved(folder, vocab, outputs=None, texts=TEXT, seed=0):
    """A model with a tokenizer of `vocab` tokens and a head of `outputs`."""
    tokenizer = byte_pairs(texts, vocab)
    tokenizer.save_pretrained(folder)
    network(16, 1, seed, outputs or len(tokenizer)).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    made = tmp_path_factory.mktemp("models")
    return {
        "plain": saved(made / "plain", 280),
        "padded": saved(made / "padded", 280, 320, seed=3),
        "short": saved(made / "short", 280, 200),
        "smaller": saved(made / "smaller", 270),
        "other": saved(made / "other", 280, texts=[text[::-1] for text in TEXT]),
    }


def test_the_shipped_pair_loads_and_fits():
    target, drafter = pair(None, None, "cpu")
    assert (target.vocab, target.context) == (1024, 256)
    assert drafter.name == str(SHIPPED / "drafter")
    for name in ("block", "ngram", str(SHIPPED / "block")):
        assert pair(None, name, "cpu")[1].name == name
    assert pair(None, "none", "cpu")[1] is None
    assert pair(str(SHIPPED), None, "cpu")[0].name == str(SHIPPED / "target")


@pytest.mark.parametrize("drafter", ["plain", "features"])
def test_outputs_beyond_the_tokenizer_are_minus_infinity_everywhere(folders, drafter):
    loud = load(folders["padded"], "cpu")
    with torch.no_grad():  # padding would be drawn nearly always
        loud.network.lm_head.weight[loud.known :] = 100 * loud.network.lm_head.weight[:1]
    assert (loud.known, loud.vocab) == (280, 320)
    if drafter == "features":
        drafts = FeatureDrafter(new_head(loud), loud)
    else:
        drafts = ModelDrafter(load(folders["plain"], "cpu", width=loud.vocab))
    options = {"verifier": named("block"), "structure": structure("chain:3"), "sampling": Sampling(2.0)}
    steps = list(generate(loud, drafts, [[5, 6]], max_new_tokens=30, ignore_end=True, **options))
    for step in steps:
        assert step.drafts.target.shape[-1] == step.draft.proposal.shape[-1] == 320
        assert not step.drafts.target[..., 280:].any()
        assert not step.draft.proposal[..., 280:].any()
        assert all(token < 280 for token in step.emitted[0])
    own = loud.network.generate(torch.tensor([[5, 6]]), max_new_tokens=8, do_sample=True, pad_token_id=0)
    assert (own < 280).all()


def test_a_head_wider_than_the_targets_is_cut_to_it(folders):
    target, drafter = pair(folders["plain"], folders["padded"], "cpu")
    assert drafter.model.vocab == target.vocab == target.known == 280


def test_what_does_not_load_or_fit(folders, tmp_path):
    for name, said in (
        (tmp_path / "nothing", "no such folder"),
        (tmp_path, "no model is here"),
        (folders["short"], "the model has 200 outputs, its tokenizer 280 tokens"),
    ):
        with pytest.raises(BadInput, match=said):
            load(name, "cpu")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadInput, match="transformers cannot load this model"):
        load(tmp_path, "cpu")
    target = load(folders["plain"], "cpu")
    with pytest.raises(BadInput, match=r"has 270 tokens and .* 280"):
        check_pair(target, load(folders["smaller"], "cpu"))
    with pytest.raises(BadInput, match="the id"):
        check_pair(target, load(folders["other"], "cpu"))
    with pytest.raises(BadInput, match="made for a target of hidden size 128, not 16"):
        pair(folders["plain"], str(SHIPPED / "block"), "cpu")
    with pytest.raises(BadInput, match="no such file"):
        pair(folders["plain"], "block", "cpu")


def test_layers_that_keep_a_state_are_read_as_chains_or_refused_without_the_row_test(tmp_path):
    byte_pairs(TEXT, 280).save_pretrained(tmp_path)
    AutoModelForCausalLM.from_config(architectures.config("lfm2", vocab_size=280)).save_pretrained(tmp_path)
    target, drafter = checked_pair(str(tmp_path), str(tmp_path), "cpu")
    assert target.only_chains
    assert drafter.only_chains
    assert "log-probabilities" in target.rows
    with pytest.raises(
        BadInput, match="reads chains only, not tree:2x2: layers of type conv cannot take back"
    ):
        list(generate(target, drafter, [[1]], verifier=named("traversal"), structure=structure("tree:2x2")))
    said = rf"^{re.escape(str(tmp_path))}: layers of type conv cannot take back"
    with pytest.raises(BadInput, match=said):
        checked_pair(str(tmp_path), "none", "cpu", test=False)
    assert checked_pair(None, "none", "cpu", test=False)[0].rows is None


def test_a_checkpoint_that_is_read_wrongly_is_refused_by_name(folders, monkeypatch):
    monkeypatch.setattr(whole.WholeReader, "_pass", lambda *_, **__: 1 / 0)
    monkeypatch.setattr(reader.Reader, "prefill", lambda *_: 1 / 0)
    said = "LlamaForCausalLM is not decoded as it should be: with chain:3 a pass fails: ZeroDivisionError"
    with pytest.raises(BadInput, match=rf"^{re.escape(folders['plain'])}: {said}"):
        checked_pair(folders["plain"], "none", "cpu")


def changed(folders, to, change):
    """A copy of a checkpoint whose weights are changed."""
    copytree(folders["plain"], to)
    weights = load_file(to / "model.safetensors")
    change(weights)
    save_file(weights, to / "model.safetensors", {"format": "pt"})
    return to


def test_missing_and_unknown_weights_are_named(folders, tmp_path):
    norm = "model.norm.weight"
    lacks = changed(folders, tmp_path / "lacks", lambda weights: weights.pop(norm))
    with pytest.raises(BadInput, match=rf"lacks: the checkpoint lacks weights: {norm}$"):
        load(lacks, "cpu")
    more = {f"model.more.{k}": torch.zeros(1) for k in range(5)}
    extra = changed(folders, tmp_path / "extra", lambda weights: weights.update(more))
    said = "has unknown weights: model.more.0, model.more.1, model.more.2 and 2 more$"
    with pytest.raises(BadInput, match=said):
        load(extra, "cpu")
    wrong = changed(folders, tmp_path / "wrong", lambda weights: weights.update({norm: torch.zeros(3)}))
    with pytest.raises(BadInput, match="wrong: transformers cannot load this model: "):
        load(wrong, "cpu")


def test_a_checkpoints_generation_settings_do_not_change_the_reference(folders, tmp_path):
    told = {}
    for name, settings in (
        ("plain", {}),
        ("penalised", {"repetition_penalty": 5.0, "no_repeat_ngram_size": 1}),
    ):
        folder = tmp_path / name
        copytree(folders["plain"], folder)
        settings |= {"eos_token_id": [3, 4], "do_sample": True, "temperature": 0.1}
        (folder / "generation_config.json").write_text(json.dumps(settings))
        target = load(folder, "cpu")
        assert target.ends == {3, 4}
        told[name] = Reference(target, [[5, 6]], 12).texts
    assert told["plain"] == told["penalised"]
    assert len(set(told["plain"][0])) < 12


def test_quantised_weights_and_several_devices_are_refused(folders, tmp_path):
    copytree(folders["plain"], tmp_path / "quantised")
    config = json.loads((tmp_path / "quantised" / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    (tmp_path / "quantised" / "config.json").write_text(json.dumps(config))
    with pytest.raises(BadInput, match=r"quantised: quantised weights \(bitsandbytes\) are not supported"):
        load(tmp_path / "quantised", "cpu")
    for name in ("auto", "cuda:0,cuda:1", "balanced"):
        with pytest.raises(BadInput, match=f"^--device {name}: .*one device; models are not split"):
            load(folders["plain"], name)


def test_the_context_is_not_bounded_by_a_window_but_by_longrope():
    assert context_of(MistralConfig(max_position_embeddings=8192, sliding_window=4096)) == 8192
    assert context_of(architectures.config("phi3-longrope")) == 32
